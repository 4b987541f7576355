/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_RUN_STATE_H
#define WARPHEAP_RUN_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "blocks.h"
#include "calls.h"
#include "captures.h"
#include "lock.h"
#include "watch.h"

/* What the library knows of the process, in memory that the kernel wipes in a forked child. A child thus begins with
 * nothing, whatever another thread of its parent held or was writing when it was made. */

enum mode { MODE_OFF, MODE_COUNT, MODE_CHECK, MODE_TRACE, MODE_POOL };

struct call_figures {
  uint64_t lookups; /* by which the program got the library's function */
  uint64_t calls;
  uint64_t refused; /* calls that the driver answered with an error */
  uint64_t bytes;   /* that were handed out */
};

struct kind_figures {
  uint64_t blocks; /* live now */
  uint64_t bytes;  /* in them */
  uint64_t peak;   /* the most bytes at once */
};

/* Blocks of the calls that MODE_POOL serves. */
struct pooled_figures {
  uint64_t blocks;           /* that came from a pool */
  uint64_t bytes;            /* in them */
  uint64_t live;             /* bytes in those that are live */
  uint64_t peak;             /* the most of that */
  uint64_t forwarded_blocks; /* that came from the driver */
  uint64_t forwarded_bytes;
  uint64_t held; /* blocks of pools that were given back and never will be free */
};

struct trace_file {
  bool is_open;
  bool failed;
  int error;     /* of the write that failed; 0 if the file could not be opened */
  uint64_t lost; /* lines that were not written */
  int file;
  dev_t device; /* which file that is */
  ino_t inode;
};

struct state {
  lock_word lock;
  pid_t maker;   /* where the kernel does not wipe memory in a child; else 0 */
  pid_t process; /* 0 before the first call of the process that is noted */
  bool has_reported;
  uint64_t last_id;
  uint64_t unknown_frees; /* that the driver accepted: of memory which was taken where the library does not see it */
  uint64_t faults;
  uint64_t unnoted;  /* blocks for which the table had no memory */
  uint64_t unjudged; /* refused frees that say nothing of the pointer: the context is broken, or a graph is captured */
  struct captures captures;
  struct pooled_figures pooled;
  lock_word pool_lock; /* of what pool.c keeps */
  _Atomic bool has_pools;
  struct trace_file trace;
  struct block_table blocks;
  struct call_figures figures[CALLS];
  struct kind_figures kinds[KINDS];
  struct watch_table watched;
};

/* The mode, which the environment variable WARPHEAP_RUN_MODE names; without it MODE_COUNT. */
enum mode run_mode(void);
/* Its name. */
const char* run_mode_name(void);

/* The state, with its lock held; null if the mode is off, the machine has no page for it, or the thread is within the
 * library of pools, whose calls of the driver are not the program's. */
struct state* state_lock(void);
/* The state for a last report; null if the process has noted no call, or has reported. The lock is held if it could be
 * had soon: the caller may be a handler of a signal that struck a thread within the lock. */
struct state* state_lock_at_end(bool* is_locked);
/* The lock of pools, which the caller takes, and never while it holds that of the state; null if the machine has no
 * page for it. */
lock_word* state_pool_lock(void);
/* This process has pools. It is false again in a forked child, which has none. */
void state_set_has_pools(void);
bool state_has_pools(void);

/* Gives the lock back. */
void state_unlock(struct state* state);

#endif
