/* SPDX-FileCopyrightText: 2026 The warpheap authors
 * SPDX-License-Identifier: Apache-2.0 */

/* A program for tests of `warpheap run`: program WAY STEP...
 *
 * WAY is how it gets the driver's functions:
 *   linked         by name; in a program that was compiled with -DLINKED, and there alone
 *   everywhere     by dlsym over all libraries
 *   opened         by dlopen and dlsym
 *   impostor       by dlopen and dlsym, from a library libother.so that is not the driver
 *   table          by cuGetProcAddress_v2, as CUDA's runtime does
 *   first-table    by the older cuGetProcAddress
 *   thread-table   by cuGetProcAddress_v2, with the flag for streams of a thread
 * Each STEP is a word, with numbers after colons, and prints one line: what the driver answered. Blocks that steps take
 * are numbered from 0. Device memory is the host's, as the stand-in driver has it. Steps of calls that are not in the
 * list below look their function up by dlsym. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int R;
typedef uint64_t P;
typedef R (*get_address_fn)(const char*, void**, int, uint64_t, int*);
typedef R (*first_get_address_fn)(const char*, void**, int, uint64_t);

/* name, base, version, type of the function */
#define CALLS(X)                                                                                \
  X(cuMemAlloc_v2, "cuMemAlloc", 3020, R (*)(P*, size_t))                                       \
  X(cuMemAllocPitch_v2, "cuMemAllocPitch", 3020, R (*)(P*, size_t*, size_t, size_t, unsigned))  \
  X(cuMemAllocManaged, "cuMemAllocManaged", 6000, R (*)(P*, size_t, unsigned))                  \
  X(cuMemFree_v2, "cuMemFree", 3020, R (*)(P))                                                  \
  X(cuMemGetAddressRange_v2, "cuMemGetAddressRange", 3020, R (*)(P*, size_t*, P))               \
  X(cuMemAllocAsync, "cuMemAllocAsync", 11020, R (*)(P*, size_t, void*))                        \
  X(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", 11020, R (*)(P*, size_t, void*, void*)) \
  X(cuMemFreeAsync, "cuMemFreeAsync", 11020, R (*)(P, void*))                                   \
  X(cuMemAllocHost_v2, "cuMemAllocHost", 3020, R (*)(void**, size_t))                           \
  X(cuMemHostAlloc, "cuMemHostAlloc", 2020, R (*)(void**, size_t, unsigned))                    \
  X(cuMemFreeHost, "cuMemFreeHost", 2000, R (*)(void*))                                         \
  X(cuMemCreate, "cuMemCreate", 10020, R (*)(P*, size_t, const void*, unsigned long long))      \
  X(cuMemRetainAllocationHandle, "cuMemRetainAllocationHandle", 11000, R (*)(P*, void*))        \
  X(cuMemRelease, "cuMemRelease", 10020, R (*)(P))                                              \
  X(cuMemGetInfo_v2, "cuMemGetInfo", 3020, R (*)(size_t*, size_t*))                             \
  X(cuStreamDestroy_v2, "cuStreamDestroy", 4000, R (*)(void*))                                  \
  X(cuStreamBeginCapture, "cuStreamBeginCapture", 10000, R (*)(void*))                          \
  X(cuStreamBeginCapture_v2, "cuStreamBeginCapture", 10010, R (*)(void*, int))                  \
  X(cuStreamEndCapture, "cuStreamEndCapture", 10000, R (*)(void*, void**))

#ifdef LINKED
#define USE(name) name
#define DECLARE(name, base, version, type) extern __typeof__(*(type)0) name;
#define TAKE_NAME(name, base, version, type) (void)handle;
#define TAKE_ENTRY(name, base, version, type) (void)flags;
#else
#define USE(name) use_##name
#define DECLARE(name, base, version, type) static __typeof__((type)0) use_##name;
#define TAKE_NAME(name, base, version, type) use_##name = (type)dlsym(handle, #name);
#define TAKE_ENTRY(name, base, version, type) use_##name = (type)from_table(base, version, flags);
#endif
CALLS(DECLARE)

/* A linked program has what it was linked with. */
#ifdef LINKED
#define HAS_POOLS 1
#else
#define HAS_POOLS (use_cuMemAllocAsync != NULL)
#endif

static void use_names(void* handle) { CALLS(TAKE_NAME) }

static get_address_fn get_address;
static first_get_address_fn first_get_address;

static void* from_table(const char* base, int version, uint64_t flags) {
  void* found = NULL;
  int status = 0;
  R result = first_get_address != NULL ? first_get_address(base, &found, version, flags)
                                       : get_address(base, &found, version, flags, &status);
  return result == 0 ? found : NULL;
}

static void use_table(uint64_t flags) { CALLS(TAKE_ENTRY) }

static void use(const char* way) {
  if (strcmp(way, "linked") == 0) return;
  if (strcmp(way, "everywhere") == 0) return use_names(RTLD_DEFAULT);
  const int impostor = strcmp(way, "impostor") == 0;
  void* const driver = dlopen(impostor ? "libother.so" : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == NULL) exit(98);
  if (impostor || strcmp(way, "opened") == 0) return use_names(driver);
  if (strcmp(way, "first-table") == 0) {
    first_get_address = (first_get_address_fn)dlsym(driver, "cuGetProcAddress");
    return use_table(0);
  }
  const get_address_fn entry = (get_address_fn)dlsym(driver, "cuGetProcAddress_v2");
  void* again = NULL;
  if (entry("cuGetProcAddress", &again, 12000, 0, NULL) != 0) exit(97);
  get_address = (get_address_fn)again;
  use_table(strcmp(way, "thread-table") == 0 ? 2 : 0);
}

static P blocks[100];
static int taken;
static void* const stream = (void*)0x10;

static void* hammer(void* rounds) {
  for (long i = 0; i < (long)rounds; ++i) {
    P own[4];
    for (int k = 0; k < 4; ++k) {
      if (USE(cuMemAlloc_v2)(&own[k], 64) != 0) abort();
      memset((void*)own[k], k, 64);
    }
    for (int k = 0; k < 4; ++k) {
      if (*(char*)own[k] != k || USE(cuMemFree_v2)(own[k]) != 0) abort();
    }
  }
  return NULL;
}

static R in_threads(long rounds) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, hammer, (void*)rounds);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return 0;
}

static void* take_late(void* bytes) { return (void*)(intptr_t)USE(cuMemAlloc_v2)(&blocks[taken++], (size_t)bytes); }

/* A capture begins so many milliseconds after another thread has begun to take memory. */
static R race(size_t bytes, size_t milliseconds) {
  pthread_t other;
  void *result = NULL, *graph = NULL;
  pthread_create(&other, NULL, take_late, (void*)bytes);
  usleep((unsigned)milliseconds * 1000);
  if (USE(cuStreamBeginCapture_v2)(stream, 2) != 0) return -1;
  pthread_join(other, &result);
  return (R)(intptr_t)result | USE(cuStreamEndCapture)(stream, &graph);
}

static void* of_stand_in(const char* name) { return dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), name); }

static R many(size_t count) {
  P* const own = malloc(count * sizeof *own);
  R result = 0;
  for (size_t i = 0; i < count; ++i) result |= USE(cuMemAlloc_v2)(&own[i], 32);
  for (size_t i = 0; i < count; ++i) result |= USE(cuMemFree_v2)(own[i]);
  free(own);
  return result;
}

static R in_child(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) return 0; /* the steps that follow are the child's */
  int status = 0;
  waitpid(child, &status, 0);
  exit(WEXITSTATUS(status));
}

static R in_short_child(void) {
  const pid_t child = vfork();
  if (child == 0) _exit(3);
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

/* What a program meets that closes files which it does not know, and then opens its own. */
static R other_files(const char* path) {
  for (int file = 3; file < 64; ++file) close(file);
  return fopen(path, "w") == NULL;
}

/* Closes the driver, whose place then is another's, and opens it again, as a program does that probed for a GPU. */
static R reopen(void) {
  struct link_map* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* const place = (void*)driver->l_addr;
  while (dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != NULL && dlclose(driver) == 0 && dlclose(driver) == 0) {
  }
  mmap(place, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  use("opened");
  return 0;
}

/* From here on the kernel refuses to wipe memory in a forked child, as one before 4.14 does. */
static R refuse_wiping(void) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_WIPEONFORK, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) | prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static R step(const char* word, size_t a, size_t b) {
  void* host = NULL;
  size_t size = 0, free_bytes = 0;
  R result = 0;
#define IS(name) (strcmp(word, name) == 0)
  if (IS("take")) return USE(cuMemAlloc_v2)(&blocks[taken++], a);
  if (IS("pitch")) return USE(cuMemAllocPitch_v2)(&blocks[taken++], &size, a, b, 4);
  if (IS("managed")) return USE(cuMemAllocManaged)(&blocks[taken++], a, 1);
  if (IS("async")) return USE(cuMemAllocAsync)(&blocks[taken++], a, stream);
  if (IS("pool")) return USE(cuMemAllocFromPoolAsync)(&blocks[taken++], a, (void*)0x20, stream);
  if (IS("create")) return USE(cuMemCreate)(&blocks[taken++], a, &taken, 0);
  if (IS("host") || IS("host-flags")) {
    result = IS("host") ? USE(cuMemAllocHost_v2)(&host, a) : USE(cuMemHostAlloc)(&host, a, 2);
    blocks[taken++] = (P)host;
    return result;
  }
  if (IS("give")) return USE(cuMemFree_v2)(blocks[a]);
  if (IS("give-async")) return USE(cuMemFreeAsync)(blocks[a], stream);
  if (IS("give-host")) return USE(cuMemFreeHost)((void*)blocks[a]);
  if (IS("retain")) return USE(cuMemRetainAllocationHandle)(&blocks[taken++], (void*)blocks[a]);
  if (IS("release")) return USE(cuMemRelease)(blocks[a]);
  if (IS("give-address")) return USE(cuMemFree_v2)(a);
  if (IS("write")) return *(volatile char*)(blocks[a] + b) = 1, 0;
  if (IS("range")) {
    P base = 0;
    result = USE(cuMemGetAddressRange_v2)(&base, &size, blocks[a] + b);
    printf("%d %zu ", base == blocks[a], size);
    return result;
  }
  if (IS("info")) {
    result = USE(cuMemGetInfo_v2)(&free_bytes, &size);
    printf("%zu ", free_bytes);
    return result;
  }
  if (IS("async-on")) return USE(cuMemAllocAsync)(&blocks[taken++], a, (void*)b);
  if (IS("give-async-on")) return USE(cuMemFreeAsync)(blocks[a], (void*)b);
  if (IS("destroy-stream-of")) return USE(cuStreamDestroy_v2)((void*)a);
  if (IS("context")) return ((R(*)(void*))of_stand_in("cuCtxSetCurrent"))((void*)a);
  if (IS("reset")) return ((R(*)(int))of_stand_in("cuDevicePrimaryCtxReset_v2"))((int)a);
  if (IS("end-context")) return ((R(*)(void*))of_stand_in("cuCtxDestroy_v2"))((void*)a);
  if (IS("use-pool")) return ((R(*)(int, void*))of_stand_in("cuDeviceSetMemPool"))((int)a, &taken);
  if (IS("use-pool-13")) {
    int of_device[] = {1, (int)a}; /* CU_MEM_LOCATION_TYPE_DEVICE */
    return ((R(*)(void*, int, void*))of_stand_in("cuMemSetMemPool"))(of_device, 1, &taken);
  }
  if (IS("peer")) {
    int can = -1, value = -1;
    result = ((R(*)(int*, int, int))of_stand_in("cuDeviceCanAccessPeer"))(&can, 0, 1);
    result |= ((R(*)(int*, int, int, int))of_stand_in("cuDeviceGetP2PAttribute"))(&value, 2, 0, 1);
    printf("%d %d %d ", can, value, result);
    return ((R(*)(void*, unsigned))of_stand_in("cuCtxEnablePeerAccess"))((void*)0x2000, 0);
  }
  if (IS("ipc")) {
    char handle[64];
    return ((R(*)(void*, P))of_stand_in("cuIpcGetMemHandle"))(handle, blocks[a]);
  }
  if (IS("attributes")) {
    /* Context, kind of memory, start and size; one by one, and together. */
    int kinds[] = {1, 2, 11, 12};
    for (int together = 0; together < 2; ++together) {
      P found[4] = {7, 0, 7, 7};
      void* values[] = {&found[0], &found[1], &found[2], &found[3]};
      R (*const one)(void*, int, P) = (R(*)(void*, int, P))of_stand_in("cuPointerGetAttribute");
      R(*const all)
      (unsigned, int*, void**, P) = (R(*)(unsigned, int*, void**, P))of_stand_in("cuPointerGetAttributes");
      for (int at = 0; at < 4 && !together; ++at) result |= one(values[at], kinds[at], blocks[a] + b);
      if (together) result |= all(4, kinds, values, blocks[a] + b);
      printf("%#llx %llu %d %llu ", (unsigned long long)found[0], (unsigned long long)found[1], found[2] == blocks[a],
             (unsigned long long)found[3]);
    }
    return result;
  }
  if (IS("align")) return (R)(blocks[a] % b);
  if (IS("capture-first")) return USE(cuStreamBeginCapture)(stream);
  if (IS("destroy-stream")) return USE(cuStreamDestroy_v2)(stream);
  if (IS("race")) return race(a, b);
  if (IS("break")) return ((R(*)(void))of_stand_in("cuStandInBreak"))();
  if (IS("lose")) return ((R(*)(P))of_stand_in("cuStandInLose"))(blocks[a]);
  if (IS("reopen")) return reopen();
  if (IS("refuse-wiping")) return refuse_wiping();
  if (IS("clear")) return clearenv();
  if (IS("limit")) return setrlimit(RLIMIT_FSIZE, &(struct rlimit){a != 0 ? a : RLIM_INFINITY, RLIM_INFINITY});
  if (IS("reuse")) {
    /* Number 2 becomes a file of the program's. */
    close(2);
    return open("own_file", O_WRONLY | O_CREAT | O_TRUNC, 0600) != 2;
  }
  if (IS("capture")) return USE(cuStreamBeginCapture_v2)(stream, 2);
  if (IS("end-capture-elsewhere")) return USE(cuStreamEndCapture)((void*)0xbad, &host);
  if (IS("end-capture")) return USE(cuStreamEndCapture)(stream, &host);
  if (IS("threads")) return in_threads((long)a);
  if (IS("many")) return many(a);
  if (IS("fork")) return in_child();
  if (IS("vfork")) return in_short_child();
  if (IS("later")) {
    /* A form of cuMemAlloc that is not known yet, whose arguments stand the other way round. */
    R (*const later)(size_t, P*) = (R(*)(size_t, P*))from_table("cuMemAlloc", 99000, 0);
    return later(a, &blocks[taken++]);
  }
  if (IS("older")) {
    uint32_t old = 0;
    R (*const older)(uint32_t*, unsigned) = (R(*)(uint32_t*, unsigned))from_table("cuMemAlloc", 2000, 0);
    return older(&old, (unsigned)a) != 0 || old != 0x1000;
  }
  if (IS("has")) return HAS_POOLS + 2 * (dlsym(RTLD_DEFAULT, "cuMemAllocAsync") != NULL);
  if (IS("error")) {
    /* A search fails, or leaves no error. */
    dlerror();
    const int found = (dlsym(RTLD_DEFAULT, "cuMemAlloc_v2") != NULL) == (dlerror() == NULL);
    return 2 * found + ((dlsym(RTLD_DEFAULT, "cuMemAllocAsync") != NULL) == (dlerror() == NULL));
  }
  if (IS("missing")) return from_table("cuNothing", 13000, 0) == NULL;
  if (IS("exit")) exit((int)a);
  if (IS("quick_exit")) {
    fflush(stdout);
    quick_exit((int)a);
  }
  if (IS("_exit")) {
    fflush(stdout);
    _exit((int)a);
  }
  if (IS("pause")) {
    fflush(stdout);
    return getchar() != '\n';
  }
  if (IS("kill")) {
    fflush(stdout);
    return raise(SIGKILL);
  }
  exit(96);
}

int main(int count, char** words) {
  use(words[1]);
  for (int i = 2; i < count; ++i) {
    char word[4096];
    size_t a = 0, b = 0;
    if (sscanf(words[i], "files:%4095s", word) == 1) {
      printf("%d\n", other_files(word));
      continue;
    }
    if (sscanf(words[i], "%[^:]:%zu:%zu", word, &a, &b) < 1) exit(95);
    const R result = step(word, a, b);
    printf("%s %d\n", word, result);
  }
}
