/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A libcuda for tests of `warpheap run`: device memory is the host's, and no kernel runs. What a program asks of it is
 * written to the file that STAND_IN_LOG names, a line each, so that a test can compare what arrives with and without
 * the library; an empty name is no file. STAND_IN_BYTES limits how much memory it has. STAND_IN_SLOW is how many
 * milliseconds cuMemAlloc_v2 and work on memory take. With -DWITHOUT_POOLS it is a
 * driver from before cuMemAllocAsync.
 *
 * CUDA's own runtimes, static and shared, look all their functions up here, and then give up: they want tables of
 * functions that no header has. */

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef int R;
typedef uint64_t P;

enum {
  OK = 0,
  INVALID = 1,
  NO_MEMORY = 2,
  NO_CONTEXT = 201,
  ILLEGAL_STATE = 401,
  CAPTURE_WRONG_THREAD = 908,
  NOT_FOUND = 500,
  BROKEN = 700,
  CAPTURE_UNSUPPORTED = 900,
  CAPTURE_UNSAFE = 906
};
enum { MOST_BLOCKS = 1 << 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  P at;
  size_t bytes;
  int references;
  void* context;
  int is_gone; /* with its context; its memory is not used again */
} blocks[MOST_BLOCKS];
/* Memory that was given back, which comes again first: so an address goes from one thread to another. */
static struct {
  void* at;
  size_t bytes;
} spare[8];
static size_t live_bytes;
static _Thread_local void* contexts[8] = {(void*)0x1000};
static _Thread_local int depth;
static _Atomic int captures;
static int is_broken;

static void say(const char* format, ...) {
  const char* const path = getenv("STAND_IN_LOG");
  if (path == NULL || *path == '\0') return;
  char text[256];
  va_list words;
  va_start(words, format);
  int length = vsnprintf(text, sizeof text - 1, format, words);
  va_end(words);
  text[length++] = '\n';
  FILE* const file = fopen(path, "a");
  fwrite(text, 1, (size_t)length, file);
  fclose(file);
}

static void dawdle(void) {
  const char* const milliseconds = getenv("STAND_IN_SLOW");
  if (milliseconds != NULL) usleep(1000 * (unsigned)atoi(milliseconds));
}

static void* memory_of(size_t bytes) {
  for (int i = 0; i < 8; ++i) {
    void* const found = spare[i].at;
    if (found == NULL || spare[i].bytes != bytes) continue;
    spare[i].at = NULL;
    return found;
  }
  return malloc(bytes);
}

static void keep(void* memory, size_t bytes) {
  for (int i = 0; i < 8; ++i) {
    if (spare[i].at != NULL) continue;
    spare[i].at = memory;
    spare[i].bytes = bytes;
    return;
  }
  free(memory);
}

static R take(P* block, size_t bytes) {
  const char* const limit = getenv("STAND_IN_BYTES");
  if (block == NULL || bytes == 0) return INVALID;
  pthread_mutex_lock(&lock);
  R result = NO_MEMORY;
  int at = 0;
  while (at < MOST_BLOCKS && blocks[at].at != 0) ++at;
  const size_t most = limit == NULL ? (size_t)1 << 30 : strtoull(limit, NULL, 0);
  void* const memory = at < MOST_BLOCKS && bytes <= most && live_bytes <= most - bytes ? memory_of(bytes) : NULL;
  if (memory != NULL) {
    blocks[at].at = *block = (P)memory;
    blocks[at].bytes = bytes;
    blocks[at].references = 1;
    blocks[at].context = contexts[depth];
    live_bytes += bytes;
    result = OK;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static int place_of(P block) {
  int at = 0;
  while (at < MOST_BLOCKS && (blocks[at].at == 0 || blocks[at].at != block || blocks[at].is_gone)) ++at;
  return at;
}

static R give(P block) {
  if (is_broken) return BROKEN;
  pthread_mutex_lock(&lock);
  const int at = place_of(block);
  if (at < MOST_BLOCKS && --blocks[at].references == 0) {
    live_bytes -= blocks[at].bytes;
    blocks[at].at = 0;
    keep((void*)block, blocks[at].bytes);
  }
  pthread_mutex_unlock(&lock);
  return at < MOST_BLOCKS ? OK : INVALID;
}

static inline void end_context(void* context) {
  pthread_mutex_lock(&lock);
  for (int at = 0; at < MOST_BLOCKS; ++at) {
    if (blocks[at].at == 0 || blocks[at].context != context || blocks[at].is_gone) continue;
    blocks[at].is_gone = 1;
    live_bytes -= blocks[at].bytes;
  }
  pthread_mutex_unlock(&lock);
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

EXPORT R cuMemAlloc(uint32_t* block, unsigned bytes) {
  say("cuMemAlloc %u", bytes);
  *block = 0x1000;
  return OK;
}
EXPORT R cuMemAlloc_v2(P* block, size_t bytes) {
  say("cuMemAlloc_v2 %zu", bytes);
  dawdle();
  return take(block, bytes);
}
/* A form that no CUDA has: its arguments stand the other way round. */
EXPORT R cuMemAlloc_v9(size_t bytes, P* block) {
  say("cuMemAlloc_v9 %zu", bytes);
  return take(block, bytes);
}
EXPORT R cuMemAllocPitch_v2(P* block, size_t* pitch, size_t width, size_t height, unsigned element) {
  say("cuMemAllocPitch_v2 %zu %zu %u", width, height, element);
  *pitch = (width + 511) / 512 * 512;
  return take(block, *pitch * height);
}
EXPORT R cuMemAllocManaged(P* block, size_t bytes, unsigned flags) {
  say("cuMemAllocManaged %zu %u", bytes, flags);
  return take(block, bytes);
}
/* As with a driver, this may not be called while a graph is captured. */
EXPORT R cuMemFree_v2(P block) {
  say("cuMemFree_v2");
  if (captures != 0) return CAPTURE_UNSUPPORTED;
  return block == 0 ? OK : give(block);
}
EXPORT R cuMemGetAddressRange_v2(P* base, size_t* bytes, P address) {
  say("cuMemGetAddressRange_v2");
  for (int at = 0; at < MOST_BLOCKS; ++at) {
    if (blocks[at].at == 0 || address < blocks[at].at || address >= blocks[at].at + blocks[at].bytes) continue;
    if (base != NULL) *base = blocks[at].at;
    if (bytes != NULL) *bytes = blocks[at].bytes;
    return OK;
  }
  return INVALID;
}
EXPORT R cuMemAllocHost_v2(void** block, size_t bytes) {
  say("cuMemAllocHost_v2 %zu", bytes);
  return take((P*)block, bytes);
}
EXPORT R cuMemHostAlloc(void** block, size_t bytes, unsigned flags) {
  say("cuMemHostAlloc %zu %u", bytes, flags);
  return take((P*)block, bytes);
}
EXPORT R cuMemFreeHost(void* block) {
  say("cuMemFreeHost");
  return give((P)block);
}
EXPORT R cuMemCreate(P* handle, size_t bytes, const void* properties, unsigned long long flags) {
  say("cuMemCreate %zu %llu", bytes, flags);
  return properties == NULL ? INVALID : take(handle, bytes);
}
/* Any address that the program names is mapped to the handle with that number. */
EXPORT R cuMemRetainAllocationHandle(P* handle, void* address) {
  say("cuMemRetainAllocationHandle");
  const int at = place_of((P)address);
  if (at == MOST_BLOCKS) return INVALID;
  ++blocks[at].references;
  *handle = (P)address;
  return OK;
}
EXPORT R cuMemRelease(P handle) {
  say("cuMemRelease");
  return give(handle);
}
EXPORT R cuMemGetInfo_v2(size_t* free_bytes, size_t* bytes) {
  *bytes = (size_t)1 << 30;
  *free_bytes = *bytes - live_bytes;
  say("cuMemGetInfo_v2 %zu", *free_bytes);
  return OK;
}
/* Work that is given to the driver while a graph is captured spoils the capture. */
static R work(void) {
  if (captures == 0) {
    dawdle();
    if (captures == 0) return OK;
  }
  say("the capture is spoilt");
  return CAPTURE_UNSAFE;
}
/* What no driver has: from here on its context is broken, as after an illegal access. */
EXPORT R cuStandInBreak(void) {
  is_broken = 1;
  return OK;
}
/* Likewise: frees a block where nobody sees it. */
EXPORT R cuStandInLose(P block) { return give(block); }
EXPORT R cuMemsetD8_v2(P at, unsigned char value, size_t bytes) {
  if (work() != OK) return CAPTURE_UNSAFE;
  memset((void*)at, value, bytes);
  return OK;
}
EXPORT R cuMemcpyDtoH_v2(void* to, P from, size_t bytes) {
  if (work() != OK) return CAPTURE_UNSAFE;
  memcpy(to, (void*)from, bytes);
  return OK;
}

/* --- Streams ------------------------------------------------------------------------------------------------------ */

#ifndef WITHOUT_POOLS
EXPORT R cuMemAllocAsync(P* block, size_t bytes, void* stream) {
  say("cuMemAllocAsync %zu %p", bytes, stream);
  return take(block, bytes);
}
EXPORT R cuMemAllocAsync_ptsz(P* block, size_t bytes, void* stream) {
  say("cuMemAllocAsync_ptsz %zu %p", bytes, stream);
  return take(block, bytes);
}
EXPORT R cuMemAllocFromPoolAsync(P* block, size_t bytes, void* pool, void* stream) {
  say("cuMemAllocFromPoolAsync %zu %p %p", bytes, pool, stream);
  return take(block, bytes);
}
EXPORT R cuMemAllocFromPoolAsync_ptsz(P* block, size_t bytes, void* pool, void* stream) {
  say("cuMemAllocFromPoolAsync_ptsz %zu %p %p", bytes, pool, stream);
  return take(block, bytes);
}
EXPORT R cuMemFreeAsync(P block, void* stream) {
  say("cuMemFreeAsync %p", stream);
  return give(block);
}
EXPORT R cuMemFreeAsync_ptsz(P block, void* stream) {
  say("cuMemFreeAsync_ptsz %p", stream);
  return give(block);
}
#endif
EXPORT R cuStreamDestroy_v2(void* stream) {
  say("cuStreamDestroy_v2 %p", stream);
  /* Each capture is of a stream of its own. */
  if (captures != 0 && stream == (void*)0x10) --captures;
  return OK;
}
EXPORT R cuStreamBeginCapture(void* stream) {
  say("cuStreamBeginCapture %p", stream);
  ++captures;
  return OK;
}
EXPORT R cuStreamBeginCapture_v2(void* stream, int mode) {
  say("cuStreamBeginCapture_v2 %p %d", stream, mode);
  ++captures;
  return OK;
}
EXPORT R cuStreamEndCapture(void* stream, void** graph) {
  say("cuStreamEndCapture %p", stream);
  if (captures == 0) return ILLEGAL_STATE;
  if (stream == (void*)0xbad) return CAPTURE_WRONG_THREAD;
  --captures;
  if (graph != NULL) *graph = (void*)&captures;
  return OK;
}

EXPORT R cuStreamCreate(void** stream, unsigned flags);
EXPORT R cuStreamSynchronize(void* stream) {
  say("cuStreamSynchronize %p", stream);
  return is_broken ? BROKEN : OK;
}
EXPORT R cuStreamIsCapturing(void* stream, int* status) {
  *status = captures != 0 && stream == (void*)0x10;
  return is_broken ? BROKEN : OK;
}

#ifndef WITHOUT_POOLS
/* --- Contexts -----------------------------------------------------------------------------------------------------
 *
 * Of two devices, whose primary contexts are 0x1000 and 0x2000. A stream lies in the context 0x2000 if it is 0x40, in
 * one that is not primary if it is 0x50, and else in 0x1000. A thread begins in 0x1000. */

EXPORT R cuCtxGetCurrent(void** context) {
  *context = contexts[depth];
  return OK;
}
EXPORT R cuCtxGetDevice(int* device) {
  if (contexts[depth] == NULL) return NO_CONTEXT;
  *device = contexts[depth] == (void*)0x2000;
  return OK;
}
EXPORT R cuCtxSetCurrent(void* context) {
  contexts[depth] = context;
  return OK;
}
EXPORT R cuCtxPushCurrent_v2(void* context) {
  contexts[++depth] = context;
  return OK;
}
EXPORT R cuCtxPopCurrent_v2(void** context) {
  *context = contexts[depth--];
  return OK;
}
EXPORT R cuCtxSynchronize(void) {
  say("cuCtxSynchronize %p", contexts[depth]);
  if (captures != 0) {
    say("the capture is spoilt");
    return CAPTURE_UNSAFE;
  }
  return is_broken ? BROKEN : OK;
}
EXPORT R cuDeviceGetCount(int* count) {
  *count = 2;
  return OK;
}
EXPORT R cuDeviceGet(int* device, int number) {
  *device = number;
  return OK;
}
EXPORT R cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* is_active) {
  (void)device, (void)flags;
  *is_active = 1;
  return OK;
}
EXPORT R cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = (void*)(uintptr_t)(0x1000 * (device + 1));
  return OK;
}
EXPORT R cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  return OK;
}
EXPORT R cuDevicePrimaryCtxReset_v2(int device) {
  say("cuDevicePrimaryCtxReset_v2 %d", device);
  end_context((void*)(uintptr_t)(0x1000 * (device + 1)));
  return OK;
}
EXPORT R cuCtxDestroy_v2(void* context) {
  say("cuCtxDestroy_v2 %p", context);
  end_context(context);
  return OK;
}
EXPORT R cuStreamGetCtx(void* stream, void** context) {
  *context = (void*)(uintptr_t)(stream == (void*)0x40 ? 0x2000 : stream == (void*)0x50 ? 0x3000 : 0x1000);
  return OK;
}
R cuStreamCreate(void** stream, unsigned flags) {
  say("cuStreamCreate %p %u", contexts[depth], flags);
  *stream = (void*)((uintptr_t)contexts[depth] + 0x100);
  return OK;
}
#endif

/* --- What is known of memory -------------------------------------------------------------------------------------- */

/* Knows the memory of pools as one allocation of 64 MiB, as a driver would. */
EXPORT R cuPointerGetAttribute(void* value, int attribute, P address) {
  for (int at = 0; at < MOST_BLOCKS; ++at) {
    if (blocks[at].is_gone && blocks[at].at == address) return INVALID;
  }
  if (attribute == 1) *(void**)value = NULL;
  if (attribute == 2) *(unsigned*)value = 2;
  if (attribute == 11) *(P*)value = address & ~(P)0x3ffffff;
  if (attribute == 12) *(size_t*)value = 1 << 26;
  return OK;
}
EXPORT R cuPointerGetAttributes(unsigned count, int* attributes, void** values, P address) {
  for (unsigned at = 0; at < count; ++at) cuPointerGetAttribute(values[at], attributes[at], address);
  return OK;
}
EXPORT R cuIpcGetMemHandle(void* handle, P block) {
  memset(handle, 1, 64);
  return place_of(block) < MOST_BLOCKS ? OK : INVALID;
}
EXPORT R cuDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer;
  return OK;
}
EXPORT R cuDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  *value = attribute + (device != peer);
  return OK;
}
EXPORT R cuCtxEnablePeerAccess(void* context, unsigned flags) {
  say("cuCtxEnablePeerAccess %p %u", context, flags);
  return OK;
}
EXPORT R cuDeviceSetMemPool(int device, void* pool) {
  say("cuDeviceSetMemPool %d %p", device, pool);
  return OK;
}

EXPORT R cuMemSetMemPool(void* location, int type, void* pool) {
  say("cuMemSetMemPool %d %d %p", *(int*)location, type, pool);
  return OK;
}

/* --- The rest -------------------------------------------------------------------------------------------------- */

/* Whatever else the runtime looks up. */
static R nothing(void) { return NOT_FOUND; }
EXPORT R cuInit(unsigned flags) {
  (void)flags;
  return OK;
}
EXPORT R cuDriverGetVersion(int* version) {
  *version = 13000;
  return OK;
}
EXPORT R cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status);
EXPORT R cuGetProcAddress(const char* name, void** function, int version, uint64_t flags);

/* --- Functions by name and version -------------------------------------------------------------------------------- */

static const struct {
  const char* base;
  int version;
  void* function;
  void* of_thread; /* null where there is one form only */
} table[] = {
    {"cuGetProcAddress", 11030, (void*)cuGetProcAddress, NULL},
    {"cuGetProcAddress", 12000, (void*)cuGetProcAddress_v2, NULL},
    {"cuMemAlloc", 2000, (void*)cuMemAlloc, NULL},
    {"cuMemAlloc", 3020, (void*)cuMemAlloc_v2, NULL},
    {"cuMemAlloc", 99000, (void*)cuMemAlloc_v9, NULL},
    {"cuMemAllocPitch", 3020, (void*)cuMemAllocPitch_v2, NULL},
    {"cuMemAllocManaged", 6000, (void*)cuMemAllocManaged, NULL},
    {"cuMemFree", 3020, (void*)cuMemFree_v2, NULL},
    {"cuMemGetAddressRange", 3020, (void*)cuMemGetAddressRange_v2, NULL},
    {"cuMemAllocHost", 3020, (void*)cuMemAllocHost_v2, NULL},
    {"cuMemHostAlloc", 2020, (void*)cuMemHostAlloc, NULL},
    {"cuMemFreeHost", 2000, (void*)cuMemFreeHost, NULL},
    {"cuMemCreate", 10020, (void*)cuMemCreate, NULL},
    {"cuMemRetainAllocationHandle", 11000, (void*)cuMemRetainAllocationHandle, NULL},
    {"cuMemRelease", 10020, (void*)cuMemRelease, NULL},
    {"cuMemGetInfo", 3020, (void*)cuMemGetInfo_v2, NULL},
    {"cuMemsetD8", 3020, (void*)cuMemsetD8_v2, NULL},
    {"cuMemcpyDtoH", 3020, (void*)cuMemcpyDtoH_v2, NULL},
#ifndef WITHOUT_POOLS
    {"cuMemAllocAsync", 11020, (void*)cuMemAllocAsync, (void*)cuMemAllocAsync_ptsz},
    {"cuMemAllocFromPoolAsync", 11020, (void*)cuMemAllocFromPoolAsync, (void*)cuMemAllocFromPoolAsync_ptsz},
    {"cuMemFreeAsync", 11020, (void*)cuMemFreeAsync, (void*)cuMemFreeAsync_ptsz},
#endif
    {"cuMemSetMemPool", 13000, (void*)cuMemSetMemPool, NULL},
    {"cuStreamDestroy", 4000, (void*)cuStreamDestroy_v2, NULL},
    {"cuStreamBeginCapture", 10000, (void*)cuStreamBeginCapture, NULL},
    {"cuStreamBeginCapture", 10010, (void*)cuStreamBeginCapture_v2, NULL},
    {"cuStreamEndCapture", 10000, (void*)cuStreamEndCapture, NULL},
    {"cuInit", 2000, (void*)cuInit, NULL},
    {"cuDriverGetVersion", 2020, (void*)cuDriverGetVersion, NULL},
};
static const char* const not_there[] = {"cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuMemFreeAsync", "cuNothing"};

static void* look_up(const char* name, int version, uint64_t flags) {
  void* found = NULL;
  int is_known = 0;
  for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
    if (strcmp(table[i].base, name) != 0) continue;
    is_known = 1;
    if (table[i].version > version) continue;
    found = (flags & 2) != 0 && table[i].of_thread != NULL ? table[i].of_thread : table[i].function;
  }
  for (size_t i = 0; i < sizeof not_there / sizeof *not_there; ++i) is_known |= strcmp(not_there[i], name) == 0;
  return is_known ? found : (void*)nothing;
}

EXPORT R cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status) {
  *function = look_up(name, version, flags);
  if (status != NULL) *status = *function != NULL ? 0 : 1;
  return *function != NULL ? OK : NOT_FOUND;
}
EXPORT R cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, NULL);
}
