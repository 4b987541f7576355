// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included by annotation.hpp, once it is known which backend the translation unit has.
//
// A type such as `heap<>` is another one in each backend, under the same name. A program that has both links, and what
// main.cpp made is used by k.cu as what it is not. So each translation unit defines this symbol, the host backend as a
// variable of a thread and the CUDA backend as one of the process: a linker refuses to take the two for one, and names
// the symbol and both files. docs/guide.md tells how files that nvcc does not compile use the CUDA backend.

#if !defined(__CUDA_ARCH__)
extern "C" {
#if defined(WARPHEAP_BACKEND_CUDA)
[[gnu::weak, gnu::used]] char warpheap_this_program_mixes_the_CUDA_backend_with_the_host_backend = 0;
#else
[[gnu::weak, gnu::used]] thread_local char warpheap_this_program_mixes_the_CUDA_backend_with_the_host_backend = 0;
#endif
}
#endif
