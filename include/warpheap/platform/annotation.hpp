// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The one place that knows which compiler reads the source.
///
/// Every function that may run in a kernel is marked `WARPHEAP_FN`, or `WARPHEAP_COLD_FN` if it seldom does, or
/// `WARPHEAP_ENTRY_FN` if programs enter the library by it. Signatures never depend on the target; only the headers in
/// `platform/cuda/` and `platform/host/` do, and each of them exists in both folders.

#if __cplusplus < 202002L
#error "warpheap needs C++20: compile with -std=c++20, or in CMake link the target warpheap::warpheap"
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 750
#error "warpheap needs compute capability 7.5: compile for sm_75 or newer (nvcc -arch, CMAKE_CUDA_ARCHITECTURES)"
#endif

#if defined(__CUDACC_RTC__)
/// 1 where host code is compiled; 0 under a runtime compiler (NVRTC), which refuses a function that only the host calls
/// and has none of the host's headers. `tools/check_device_face` sets it to 0 as well.
#define WARPHEAP_COMPILES_HOST 0
#elif !defined(WARPHEAP_COMPILES_HOST)
/// 1 where host code is compiled; 0 under a runtime compiler (NVRTC), which refuses a function that only the host calls
/// and has none of the host's headers. `tools/check_device_face` sets it to 0 as well.
#define WARPHEAP_COMPILES_HOST 1
#endif

#if defined(WARPHEAP_BACKEND_CUDA) && !defined(__CUDACC__)
/// 1 where the compiler makes kernels, which host code can then start; 0 in a file of a CUDA program that nvcc does not
/// read.
#define WARPHEAP_COMPILES_KERNELS 0
#else
/// 1 where the compiler makes kernels, which host code can then start; 0 in a file of a CUDA program that nvcc does not
/// read.
#define WARPHEAP_COMPILES_KERNELS 1
#endif

#if defined(__CUDACC__) || defined(WARPHEAP_BACKEND_CUDA)
/// Kernels run on a GPU. nvcc defines it; a program defines it for files that another compiler reads and that share
/// heaps with files that nvcc reads (CMake: target `warpheap::cuda`). Those make and pass heaps, and start no kernels.
#undef WARPHEAP_BACKEND_CUDA
#define WARPHEAP_BACKEND_CUDA 1
/// Marks a function that kernels may call.
#if defined(__CUDACC__)
#define WARPHEAP_FN __host__ __device__
#else
#define WARPHEAP_FN
#endif
/// Marks a function that kernels seldom call: it is not inlined, so that it costs its callers few registers.
///
/// In a program whose parts are compiled apart (`-rdc=true`) it has at most 32 registers. A kernel may not call a
/// function that has more registers than the kernel's launch bounds allow, and two blocks of 1,024 threads leave 32.
#if !defined(__CUDA_ARCH__)
#define WARPHEAP_COLD_FN WARPHEAP_FN  // g++ warns of `inline` after an attribute that forbids it
#elif defined(__CUDACC_RDC__)
#define WARPHEAP_COLD_FN __host__ __device__ __noinline__ __local_maxnreg__(32)
#else
#define WARPHEAP_COLD_FN __host__ __device__ __noinline__
#endif
/// Marks a function by which a program enters the library's concurrent code, and which may be called by a function that
/// calls itself.
///
/// In a program whose parts are compiled apart it is not inlined. There ptxas 13.0 leaves out every reconvergence
/// barrier of a function that calls itself, and keeps values in registers of the warp across the branches that no
/// longer meet: what is inlined in such a function fails with illegal instructions, or hangs (seen on an H100).
#if defined(__CUDA_ARCH__) && defined(__CUDACC_RDC__)
#define WARPHEAP_ENTRY_FN WARPHEAP_COLD_FN
#else
#define WARPHEAP_ENTRY_FN WARPHEAP_FN
#endif
/// Keeps its argument in a CUDA build, drops it in a host build.
#define WARPHEAP_CUDA_ONLY(...) __VA_ARGS__
/// Keeps its argument in a host build, drops it in a CUDA build.
#define WARPHEAP_HOST_ONLY(...)
/// For `#if`: 1 if kernels run on the host executor, 0 if they run on a GPU.
#define WARPHEAP_RUNS_ON_HOST 0
#else
/// The source is read by a plain C++20 compiler: kernels run on the host executor.
#define WARPHEAP_BACKEND_HOST 1
#define WARPHEAP_FN
#define WARPHEAP_ENTRY_FN
#define WARPHEAP_COLD_FN __attribute__((cold))
#define WARPHEAP_CUDA_ONLY(...)
#define WARPHEAP_HOST_ONLY(...) __VA_ARGS__
#define WARPHEAP_RUNS_ON_HOST 1
#endif

#if defined(__CUDACC__) && !defined(__CUDACC_RDC__)
/// For `#if`: 1 if kernels may call functions of other translation units, so that what they call is linked.
#define WARPHEAP_LINKS_KERNELS 0
#else
/// For `#if`: 1 if kernels may call functions of other translation units, so that what they call is linked.
#define WARPHEAP_LINKS_KERNELS 1
#endif

/// In front of a loop that kernels seldom come to: its body is not copied, so it needs fewer registers and less code.
#define WARPHEAP_ROLLED
#if defined(__CUDA_ARCH__)
#undef WARPHEAP_ROLLED
#define WARPHEAP_ROLLED _Pragma("unroll 1")
#endif

#include <warpheap/platform/detail/one_backend.hpp>

namespace warpheap {

/// Where kernels of this translation unit run.
enum class backend { cuda, host };

#if defined(WARPHEAP_BACKEND_CUDA)
/// The backend of this translation unit.
inline constexpr backend this_backend = backend::cuda;
#else
inline constexpr backend this_backend = backend::host;
#endif

/// The name that records and messages use for `which`: `"cuda"` or `"host"`.
WARPHEAP_FN constexpr const char* backend_name(backend which) { return which == backend::cuda ? "cuda" : "host"; }

}  // namespace warpheap
