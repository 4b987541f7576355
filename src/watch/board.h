/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WARPHEAP_WATCH_BOARD_H
#define WARPHEAP_WATCH_BOARD_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The board of a process: one page of counters in a file that other processes read, for `warpheap watch`. The format is
 * that of python/warpheap/watch/board.py, and docs/watch.md describes it.
 *
 * Each library that publishes includes this header in one source, of C or of C++, and has a board of its own. The first
 * row that is written makes the file. Nothing here takes memory from malloc, keeps a file open, starts a thread, or
 * fails: a process that cannot make the file goes on unseen. A forked child has no board until it writes a row. */

enum { BOARD_VERSION = 1, BOARD_BYTES = 4096, BOARD_ROWS = 30, BOARD_NAMES = 16 };
#define BOARD_MAGIC UINT64_C(0x31706165687077) /* "wpheap1", the first letter in the lowest byte */

/* The library that publishes. */
enum board_source { BOARD_OF_RUN = 1, BOARD_OF_POOLS = 2 };
/* What a row is about. Those below BOARD_POOL are kinds of the driver's memory. */
enum board_kind { BOARD_NOTHING, BOARD_DEVICE, BOARD_MANAGED, BOARD_STREAM, BOARD_HOST, BOARD_PHYSICAL, BOARD_POOL };
enum { BOARD_COMMON_POOL = 1 }; /* bits of `flags` */
#define BOARD_NO_DEVICE UINT64_MAX

/* Counters of one pool or kind of memory. One thread at a time writes a word, and readers see each word by itself. What
 * is live is what was taken less what was given back. A reader that goes upwards sees no end of a block whose start it
 * does not see. */
struct board_row {
  uint64_t kind;   /* written last; BOARD_NOTHING in an unused row */
  uint64_t device; /* the number of the GPU, or BOARD_NO_DEVICE */
  uint64_t number; /* of the pool, from 1 on; another number in the same row is another pool */
  uint64_t flags;
  uint64_t committed_bytes;
  uint64_t peak_committed_bytes;
  uint64_t failures;
  uint64_t unused_line;
  /* These change with each block. */
  uint64_t deallocations;
  uint64_t deallocated_bytes;
  uint64_t allocations;
  uint64_t allocated_bytes;
  uint64_t peak_live_blocks;
  uint64_t peak_live_bytes;
  uint64_t unused[2];
};

struct board {
  uint64_t magic;
  uint64_t version;
  uint64_t bytes;
  uint64_t row_offset;
  uint64_t row_bytes;
  uint64_t rows;
  uint64_t process;
  uint64_t start; /* of the process, in clock ticks since the machine began, as /proc tells */
  uint64_t source;
  char detail[16];  /* the mode of `warpheap run`, or the backend of the pools */
  uint64_t unshown; /* pools that have no row */
  uint64_t unused[20];
  struct board_row row[BOARD_ROWS];
};

#ifdef __cplusplus
static_assert(sizeof(struct board) == BOARD_BYTES && sizeof(struct board_row) == 128, "the format of a board");
#else
_Static_assert(sizeof(struct board) == BOARD_BYTES && sizeof(struct board_row) == 128, "the format of a board");
#endif

/* Stores a counter so that a reader sees the old or the new number. */
static inline void board_store(uint64_t* word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }
static inline uint64_t board_load(const uint64_t* word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

/* Shows a row whose other words are written. Release: who reads the kind in this process reads those words, too; other
 * processes read the page by the kernel. */
static inline void board_publish(struct board_row* row, enum board_kind kind) {
  __atomic_store_n(&row->kind, (uint64_t)kind, __ATOMIC_RELEASE);
}

/* --- Identity of a process ---------------------------------------------------------------------------------------- */

struct board_owner {
  unsigned long long process;
  unsigned long long start; /* with the process it names one process for as long as the machine runs */
  unsigned long long stack; /* where its stack begins; another program after exec has another one */
};

/* Reads /proc/NAME/stat, where NAME is the number of a process or "self". Returns 1; 0 if the process has ended; -1 if
 * that cannot be told. */
static int board_read_owner(const char* name, struct board_owner* owner) {
  char path[40], text[1024];
  snprintf(path, sizeof path, "/proc/%s/stat", name);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? 0 : -1;
  const ssize_t count = read(file, text, sizeof text - 1);
  const int error = errno;
  close(file);
  if (count < 0) return error == ESRCH ? 0 : -1;
  text[count] = '\0';
  owner->process = strtoull(text, NULL, 10);
  /* The program's name stands in brackets and can hold brackets and blanks. The state comes after it, as field 3. */
  const char* at = strrchr(text, ')');
  for (int field = 2; at != NULL && field < 28; ++field) {
    at = strchr(at + 1, ' ');
    if (at == NULL) break;
    if (field + 1 == 22) owner->start = strtoull(at + 1, NULL, 10);
    if (field + 1 == 28) owner->stack = strtoull(at + 1, NULL, 10);
  }
  return at != NULL ? 1 : -1;
}

/* --- The file ----------------------------------------------------------------------------------------------------- */

enum board_state { BOARD_UNTRIED, BOARD_OPENING, BOARD_OPEN, BOARD_REFUSED };

/* What a process knows of its board. The kernel wipes this in a forked child, which so does not write to the board of
 * its parent. */
struct board_keeper {
  struct board* board; /* null unless open */
  uint32_t state;
  pid_t process;
  char path[256];
};

static struct board_keeper* board_the_keeper;

/* Acquire and release here and below: who finds the keeper, or the board, finds it written. */
static struct board_keeper* board_get_keeper(void) {
  struct board_keeper* known = __atomic_load_n(&board_the_keeper, __ATOMIC_ACQUIRE);
  if (known != NULL) return known;
  void* const made = mmap(NULL, sizeof *known, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return NULL;
  if (madvise(made, sizeof *known, MADV_WIPEONFORK) == 0 &&
      __atomic_compare_exchange_n(&board_the_keeper, &known, (struct board_keeper*)made, 0, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    return (struct board_keeper*)made;
  }
  munmap(made, sizeof *known);
  return known;
}

static const char* board_folder(void) {
  const char* const named = secure_getenv("WARPHEAP_WATCH_FOLDER");
  return named != NULL && *named == '/' ? named : "/dev/shm";
}

/* True unless WARPHEAP_WATCH is 0, which a library asks before it writes a row. */
static int board_is_wanted(void) {
  const char* const said = getenv("WARPHEAP_WATCH");
  return said == NULL || strcmp(said, "0") != 0;
}

/* Removes a file whose process has ended, or has become another program, without removing it itself. `prefix` is what
 * begins the names of this user's files in this namespace of processes. */
static void board_clean(int folder, const char* name, const char* prefix) {
  unsigned long long process = 0, start = 0, stack = 0;
  char number[24];
  struct board_owner is = {0, 0, 0};
  const size_t length = strlen(prefix);
  if (strncmp(name, prefix, length) != 0) return;
  if (sscanf(name + length, "%llu-%llu-%llx-", &process, &start, &stack) != 3) return;
  snprintf(number, sizeof number, "%llu", process);
  const int found = board_read_owner(number, &is);
  const int is_same = is.start == start && (is.stack == stack || is.stack == 0);
  if (found == 0 || (found == 1 && !is_same)) unlinkat(folder, name, 0);
}

static void board_clean_all(const char* path, const char* prefix) {
  /* What getdents64 fills: 64-bit inode and offset, 16-bit length of the entry, 8-bit type, name. */
  enum { LENGTH_AT = 16, NAME_AT = 19 };
  char entries[4096];
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  for (long count; (count = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;) {
    for (long at = 0; at < count;) {
      uint16_t length;
      memcpy(&length, entries + at + LENGTH_AT, sizeof length);
      board_clean(folder, entries + at + NAME_AT, prefix);
      at += length;
    }
  }
  close(folder);
}

/* A page that is written takes its memory from the machine now. A file that is only made longer would take it when a
 * counter is stored, and a full machine would then end the program by a signal. */
static struct board* board_map(int file, const struct board* content) {
  if (pwrite(file, content, BOARD_BYTES, 0) != BOARD_BYTES) return NULL;
  void* const page = mmap(NULL, BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return page != MAP_FAILED ? (struct board*)page : NULL;
}

static struct board* board_make_file(struct board_keeper* keeper, enum board_source source, const char* detail) {
  struct board content;
  struct board_owner self = {0, 0, 0};
  struct rlimit size;
  struct stat space;
  char prefix[80];
  /* Beyond its limit of a file's size the process would get a signal. */
  if (getrlimit(RLIMIT_FSIZE, &size) != 0 || size.rlim_cur < BOARD_BYTES) return NULL;
  /* Readers would not find the process in a /proc that is of other processes. */
  if (board_read_owner("self", &self) != 1 || self.process != (unsigned long long)getpid()) return NULL;
  if (stat("/proc/self/ns/pid", &space) != 0) return NULL;
  snprintf(prefix, sizeof prefix, "warpheap-%lu-%llu-", (unsigned long)geteuid(), (unsigned long long)space.st_ino);
  board_clean_all(board_folder(), prefix);

  memset(&content, 0, sizeof content);
  content.magic = BOARD_MAGIC;
  content.version = BOARD_VERSION;
  content.bytes = BOARD_BYTES;
  content.row_offset = sizeof content - sizeof content.row;
  content.row_bytes = sizeof content.row[0];
  content.rows = BOARD_ROWS;
  content.process = self.process;
  content.start = self.start;
  content.source = source;
  snprintf(content.detail, sizeof content.detail, "%s", detail);
  /* Another library of the process may have a board, too. */
  for (int number = 0; number < BOARD_NAMES; ++number) {
    const int length = snprintf(keeper->path, sizeof keeper->path, "%s/%s%llu-%llu-%llx-%d", board_folder(), prefix,
                                self.process, self.start, self.stack, number);
    if (length >= (int)sizeof keeper->path) return NULL;
    /* For reading only: another program that made the file shorter would end this one by a signal. */
    const int file = open(keeper->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return NULL;
    struct board* const made = board_map(file, &content);
    if (made == NULL) unlink(keeper->path);
    close(file);
    return made;
  }
  return NULL;
}

__attribute__((noinline, cold)) static struct board* board_make(enum board_source source, const char* detail) {
  struct board_keeper* const keeper = board_get_keeper();
  if (keeper == NULL) return NULL;
  uint32_t state = __atomic_load_n(&keeper->state, __ATOMIC_ACQUIRE);
  if (state == BOARD_UNTRIED && __atomic_compare_exchange_n(&keeper->state, &state, (uint32_t)BOARD_OPENING, 0,
                                                            __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    const int error = errno; /* the program's, which goes on with it */
    keeper->process = getpid();
    struct board* const made = board_make_file(keeper, source, detail);
    errno = error;
    __atomic_store_n(&keeper->board, made, __ATOMIC_RELEASE);
    __atomic_store_n(&keeper->state, made != NULL ? BOARD_OPEN : BOARD_REFUSED, __ATOMIC_RELEASE);
    return made;
  }
  /* For the thread that makes the file, which waits for nobody; it takes a few calls of the kernel, once. */
  while (__atomic_load_n(&keeper->state, __ATOMIC_ACQUIRE) == BOARD_OPENING) sched_yield();
  return __atomic_load_n(&keeper->board, __ATOMIC_ACQUIRE);
}

/* The board if this process has made it; else null. */
static inline struct board* board_if_open(void) {
  const struct board_keeper* const keeper = __atomic_load_n(&board_the_keeper, __ATOMIC_ACQUIRE);
  return keeper != NULL ? __atomic_load_n(&keeper->board, __ATOMIC_ACQUIRE) : NULL;
}

/* The board; null if it could not be made. The first call in a process makes it. */
static inline struct board* board_of(enum board_source source, const char* detail) {
  struct board* const made = board_if_open();
  return made != NULL ? made : board_make(source, detail);
}

/* Removes the file. Counters can be stored as before. The memory of a parent, which a child of vfork has, is left
 * alone. */
static void board_end(void) {
  if (board_if_open() != NULL && board_the_keeper->process == getpid()) unlink(board_the_keeper->path);
}

/* Removes the files of all libraries of the process, which ends without their destructors. */
static inline void board_end_all(void) {
  char path[sizeof board_the_keeper->path];
  if (board_if_open() == NULL || board_the_keeper->process != getpid()) return;
  memcpy(path, board_the_keeper->path, sizeof path);
  char* const number = strrchr(path, '-') + 1;
  for (int at = 0; at < BOARD_NAMES; ++at) {
    snprintf(number, sizeof path - (size_t)(number - path), "%d", at);
    unlink(path);
  }
}

/* A program that ends by `exit`, or lets go of the library. */
__attribute__((destructor)) static void board_end_with_library(void) { board_end(); }

#endif
