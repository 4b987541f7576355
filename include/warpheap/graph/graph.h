/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_GRAPH_GRAPH_H
#define WARPHEAP_GRAPH_GRAPH_H

/** @file
 * Dynamic graphs for C and for all languages that call C: directed edges, each once, between the vertices 0 to V - 1.
 *
 * The library `libwarpheap_graph_cuda.so` keeps graphs in the memory of a GPU, `libwarpheap_graph_host.so` in that of
 * the host. All arrays are device memory, which for the library of the host is any memory of the process. Pointers to
 * single results are host memory, and may be null where nobody asks for them, unless a function says otherwise.
 *
 * A graph has a heap of its own. It lives on the device that was current when it was made, and each call uses that
 * device. Calls work on the default stream of the device and end when their result is there. One thread at a time uses
 * a graph; several graphs are independent.
 *
 * A function returns WH_GRAPH_OK or says what went wrong; `wh_graph_error` then has a sentence. A call that fails has
 * changed nothing, unless it says otherwise.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Number of this interface. It rises with each change that a compiled caller would notice. */
#define WH_GRAPH_ABI 1

/** A dynamic graph. */
typedef struct wh_graph wh_graph;

/** How a call ended. */
typedef enum wh_graph_status {
  WH_GRAPH_OK = 0,
  WH_GRAPH_INVALID_ARGUMENT = 1, /**< an argument cannot be right */
  WH_GRAPH_TOO_LARGE = 2,        /**< more vertices, edges or bytes than the graph can take */
  WH_GRAPH_OUT_OF_MEMORY = 3,    /**< the host has not as much memory; its backend's devices neither */
  WH_GRAPH_DEVICE_FAILURE = 4,   /**< there is no device, it refused memory, or a kernel failed */
  WH_GRAPH_INTERNAL_ERROR = 5    /**< nothing that is foreseen */
} wh_graph_status;

/** Bits of `wh_graph_options::flags`. */
enum {
  WH_GRAPH_UNDIRECTED = 1,     /**< each edge of a batch stands for both directions */
  WH_GRAPH_KEEP_LOOPS = 2,     /**< edges from a vertex to itself are kept, else dropped and counted */
  WH_GRAPH_WEIGHTS = 4,        /**< each edge has a weight, a float of 32 bits */
  WH_GRAPH_REPLACE_WEIGHTS = 8 /**< an edge to add that the graph has gets the weight of the batch */
};

/** How a graph is made. All zeros are the defaults. */
typedef struct wh_graph_options {
  const char* design;     /**< the design of the heap, one of `wh_graph_designs`; null: the first of them */
  uint64_t heap_bytes;    /**< bytes for lists; 0: an eighth of the device's memory, but 1 GiB at most */
  uint32_t flags;         /**< WH_GRAPH_UNDIRECTED and others */
  uint32_t most_vertices; /**< as far as the graph can grow; 0: 2^28 */
} wh_graph_options;

/** What came of a batch of edges, in directed edges: an undirected graph counts both directions of each edge. `offered`
 * is the sum of all others. */
typedef struct wh_graph_edge_counts {
  uint64_t offered;  /**< edges of the batch */
  uint64_t added;    /**< edges that the graph has now and had not */
  uint64_t present;  /**< edges to add that the graph had */
  uint64_t removed;  /**< edges that the graph had and has no more */
  uint64_t absent;   /**< edges to remove that the graph had not */
  uint64_t repeated; /**< edges that an earlier one of the batch equals */
  uint64_t loops;    /**< edges from a vertex to itself that were dropped */
  uint64_t refused;  /**< edges of vertices for whose list the heap had no room: these are as before */
  uint64_t invalid;  /**< edges with a vertex that the graph has not, or that was removed */
} wh_graph_edge_counts;

/** What came of a removal of vertices. */
typedef struct wh_graph_vertex_counts {
  uint64_t removed;       /**< vertices that are no more in the graph */
  uint64_t invalid;       /**< ids that the graph has not, or had removed, or that the batch repeats */
  uint64_t removed_edges; /**< directed edges from or to them */
} wh_graph_vertex_counts;

/** Memory of a graph, in bytes. */
typedef struct wh_graph_memory_figures {
  uint64_t live_bytes;           /**< ids and weights of all edges */
  uint64_t block_bytes;          /**< blocks that they lie in */
  uint64_t record_bytes;         /**< records of vertices, and two sets of vertices */
  uint64_t scratch_bytes;        /**< memory that batches work in, kept for the next one */
  uint64_t heap_committed_bytes; /**< memory of the heap; UINT64_MAX if it does not tell */
  uint64_t heap_live_bytes;      /**< bytes that the heap has handed out; UINT64_MAX if it does not tell */
} wh_graph_memory_figures;

/** How `wh_graph_page_rank` runs. */
typedef struct wh_graph_page_rank_options {
  double alpha;              /**< share of a rank that moves along edges, 0 to 1; usually 0.85 */
  double tolerance;          /**< ends once the sum of |change| is below this times the number of vertices */
  uint32_t max_iterations;   /**< iterations at most */
  uint32_t fixed_iterations; /**< if not 0, exactly so many iterations run */
  uint32_t warm_start;       /**< if not 0, `ranks` holds numbers to start from, of any positive sum */
} wh_graph_page_rank_options;

/** What `wh_graph_page_rank` did. */
typedef struct wh_graph_page_rank_result {
  uint32_t iterations; /**< iterations that ran */
  uint32_t converged;  /**< 1 if the last iteration met the tolerance, else 0 */
  double change;       /**< sum of |change| over all vertices in the last iteration */
} wh_graph_page_rank_result;

/** What `wh_graph_breadth_first` found. */
typedef struct wh_graph_breadth_first_result {
  uint64_t reached; /**< vertices that a path leads to, the source among them */
  uint32_t depth;   /**< the largest distance of a reached vertex */
} wh_graph_breadth_first_result;

/* --- The library -------------------------------------------------------------------------------------------------- */

/** WH_GRAPH_ABI of the library that is loaded. */
uint32_t wh_graph_abi(void);
/** "cuda" or "host". */
const char* wh_graph_backend(void);
/** Names of the designs that a heap can be of, with commas in between, the default first. */
const char* wh_graph_designs(void);
/** 1 if a device answers, else 0. The library of the host always has one. */
uint32_t wh_graph_device_available(void);
/** Number of the device that is current for the calling thread, or -1 if there is no device. */
int32_t wh_graph_device(void);
/** What went wrong in the last call of this thread that failed, and what helps. Never null; valid until the next call
 * that fails. */
const char* wh_graph_error(void);

/* --- Arrays: for callers that have no device memory of their own -------------------------------------------------- */

/** Sets `*array` to `bytes` bytes of memory on the current device, 256-byte aligned and with any contents. */
wh_graph_status wh_graph_array_make(uint64_t bytes, void** array);
/** Takes back what `wh_graph_array_make` gave, from whichever thread and device. Null is ignored. */
void wh_graph_array_end(void* array);
/** Copies bytes between any two of host and device memory. */
wh_graph_status wh_graph_array_copy(void* to, const void* from, uint64_t bytes);
/** Writes 64-bit ids as 32-bit ones; what is no id of 32 bits becomes UINT32_MAX, which is an invalid vertex. */
wh_graph_status wh_graph_array_narrow(uint32_t* to, const int64_t* from, uint64_t count);
/** Writes unsigned 32-bit numbers as 64-bit ones. */
wh_graph_status wh_graph_array_widen(uint64_t* to, const uint32_t* from, uint64_t count);
/** Waits for the work of a stream (`cudaStream_t` as a number), so that a call can read what that work wrote. */
wh_graph_status wh_graph_await_stream(uint64_t stream);

/* --- Graphs ------------------------------------------------------------------------------------------------------- */

/** Sets `*graph` to a graph of `vertices` vertices without edges. `options` may be null. */
wh_graph_status wh_graph_create(uint32_t vertices, const wh_graph_options* options, wh_graph** graph);
/** Ends a graph and its heap. Null is ignored. */
void wh_graph_destroy(wh_graph* graph);

/** Ids of vertices, those of removed ones included; 0 for null. */
uint32_t wh_graph_vertices(const wh_graph* graph);
/** Directed edges; 0 for null. */
uint64_t wh_graph_edges(const wh_graph* graph);
/** A number that rises with each change of vertices or edges; 0 for null. */
uint64_t wh_graph_version(const wh_graph* graph);
/** Bits of `wh_graph_options::flags` that the graph was made with; 0 for null. */
uint32_t wh_graph_flags(const wh_graph* graph);

/** Adds edges from `sources[i]` to `targets[i]`. Where the batch names an edge more than once, the first weight holds.
 * `weights` is null in a graph without weights, and in one with them stands for zero weights. */
wh_graph_status wh_graph_add_edges(wh_graph* graph, const uint32_t* sources, const uint32_t* targets,
                                   const float* weights, uint64_t count, wh_graph_edge_counts* counts);
/** Removes edges from `sources[i]` to `targets[i]`. */
wh_graph_status wh_graph_remove_edges(wh_graph* graph, const uint32_t* sources, const uint32_t* targets, uint64_t count,
                                      wh_graph_edge_counts* counts);
/** Sets `found[i]` to 1 if the graph has the edge from `sources[i]` to `targets[i]`, else to 0. */
wh_graph_status wh_graph_has_edges(const wh_graph* graph, const uint32_t* sources, const uint32_t* targets,
                                   uint64_t count, uint8_t* found);
/** Replaces all edges by a batch of others. A call that fails may leave the graph without edges. */
wh_graph_status wh_graph_assign_edges(wh_graph* graph, const uint32_t* sources, const uint32_t* targets,
                                      const float* weights, uint64_t count, wh_graph_edge_counts* counts);
/** Replaces all edges by those of compressed sparse rows: `offsets` has a number more than the graph has vertices,
 * `neighbours` and `weights` (or null) have `edges`. Ids rise strictly in each row. The rows of an undirected graph
 * have both directions of each edge, as the caller promises. A call that fails may leave the graph without edges. */
wh_graph_status wh_graph_assign_csr(wh_graph* graph, const uint64_t* offsets, const uint32_t* neighbours,
                                    const float* weights, uint64_t edges, wh_graph_edge_counts* counts);
/** Removes all edges; removed vertices are there again. */
wh_graph_status wh_graph_clear(wh_graph* graph);

/** Adds `count` vertices without edges; `*first` becomes the first new id. */
wh_graph_status wh_graph_add_vertices(wh_graph* graph, uint32_t count, uint32_t* first);
/** Removes vertices and all edges from and to them. Their ids are not given again, and are invalid in batches. */
wh_graph_status wh_graph_remove_vertices(wh_graph* graph, const uint32_t* ids, uint64_t count,
                                         wh_graph_vertex_counts* counts);

/** Writes the degree of each vertex. */
wh_graph_status wh_graph_degrees(const wh_graph* graph, uint32_t* degrees);
/** Writes the graph in compressed sparse rows: `wh_graph_vertices` and one offsets, and `wh_graph_edges` neighbours and
 * weights, those ascending in each row. Null arrays are left out. `room` is how many neighbours the arrays can hold:
 * WH_GRAPH_INVALID_ARGUMENT if the graph has more. */
wh_graph_status wh_graph_to_csr(const wh_graph* graph, uint64_t* offsets, uint32_t* neighbours, float* weights,
                                uint64_t room);
/** Sets `*count` to the neighbours of `vertex` and writes them, as long as `room` is enough; with a null `ids` it only
 * counts. WH_GRAPH_INVALID_ARGUMENT for an id that the graph has not, or too little room. */
wh_graph_status wh_graph_neighbours(const wh_graph* graph, uint32_t vertex, uint32_t* ids, uint64_t room,
                                    uint64_t* count);
/** Memory in use. Looks at all vertices. `figures` is not null. */
wh_graph_status wh_graph_memory(const wh_graph* graph, wh_graph_memory_figures* figures);
/** Makes the heap hand out up to `bytes` bytes; a smaller figure than now changes nothing. */
wh_graph_status wh_graph_grow_heap(wh_graph* graph, uint64_t bytes);

/** Sets `*count` to the number of vertices whose edges have changed since the set was cleared, and writes their ids in
 * ascending order, as long as `room` is enough; with a null `ids` it only counts. */
wh_graph_status wh_graph_changed_vertices(const wh_graph* graph, uint32_t* ids, uint64_t room, uint64_t* count);
/** Empties the set of changed vertices. */
wh_graph_status wh_graph_clear_changed(wh_graph* graph);

/* --- Algorithms --------------------------------------------------------------------------------------------------- */

/** Writes the PageRank of each vertex; all sum up to 1. From a vertex without edges the walker goes to any vertex.
 * Weights are ignored. `options` may be null. */
wh_graph_status wh_graph_page_rank(wh_graph* graph, const wh_graph_page_rank_options* options, float* ranks,
                                   wh_graph_page_rank_result* result);
/** Counts the triangles of an undirected graph; `per_vertex`, if not null, gets those that each vertex is a corner of.
 * WH_GRAPH_INVALID_ARGUMENT for a directed graph. */
wh_graph_status wh_graph_triangle_count(wh_graph* graph, uint64_t* per_vertex, uint64_t* triangles);
/** Writes for each vertex the edges of a shortest path from `source`, or UINT32_MAX if no path leads there. */
wh_graph_status wh_graph_breadth_first(wh_graph* graph, uint32_t source, uint32_t* distances,
                                       wh_graph_breadth_first_result* result);

#ifdef __cplusplus
}
#endif

#endif
