// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Handlers for JAX (its foreign function interface) that take blocks from a heap and give them back, in the order of
// XLA's stream. jax_heap.py compiles this file and calls them.

#include <xla/ffi/api/ffi.h>
#include <cstdint>
#include <string>
#include <warpheap.hpp>

namespace ffi = xla::ffi;

namespace {

using heap_handle = const warpheap::heap_ref<>*;

// `heap` has the address of the handle, as `Heap.handle` of Python gives it.
__global__ void take_blocks(const std::uint64_t* heap, const std::uint64_t* sizes, std::uint64_t* blocks,
                            std::uint64_t count) {
  const std::uint64_t i = warpheap::grid_thread_index();
  if (i >= count) return;
  blocks[i] = reinterpret_cast<std::uint64_t>(reinterpret_cast<heap_handle>(*heap)->malloc(sizes[i]));
}

// `freed[i]` becomes 1 where there was a block, else 0.
__global__ void give_blocks(const std::uint64_t* heap, const std::uint64_t* blocks, std::uint64_t* freed,
                            std::uint64_t count) {
  const std::uint64_t i = warpheap::grid_thread_index();
  if (i >= count) return;
  reinterpret_cast<heap_handle>(*heap)->free(reinterpret_cast<void*>(blocks[i]));
  freed[i] = blocks[i] != 0 ? 1 : 0;
}

template <class Kernel>
ffi::Error launch(Kernel kernel, cudaStream_t stream, ffi::BufferR0<ffi::U64> heap, ffi::BufferR1<ffi::U64> in,
                  ffi::ResultBufferR1<ffi::U64> out) {
  const std::uint64_t count = in.element_count();
  if (out->element_count() != count) {
    return ffi::Error::InvalidArgument("the result has another number of elements than the argument");
  }
  if (count == 0) return ffi::Error::Success();
  constexpr unsigned threads = 256;
  const auto blocks = static_cast<unsigned>((count + threads - 1) / threads);
  kernel<<<blocks, threads, 0, stream>>>(heap.typed_data(), in.typed_data(), out->typed_data(), count);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? ffi::Error::Success() : ffi::Error::Internal(cudaGetErrorString(error));
}

ffi::Error take(cudaStream_t stream, ffi::BufferR0<ffi::U64> heap, ffi::BufferR1<ffi::U64> sizes,
                ffi::ResultBufferR1<ffi::U64> blocks) {
  return launch(take_blocks, stream, heap, sizes, blocks);
}
ffi::Error give(cudaStream_t stream, ffi::BufferR0<ffi::U64> heap, ffi::BufferR1<ffi::U64> blocks,
                ffi::ResultBufferR1<ffi::U64> freed) {
  return launch(give_blocks, stream, heap, blocks, freed);
}

}  // namespace

#define WARPHEAP_HANDLER(name, function)                                      \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function,                               \
                                ffi::Ffi::Bind()                              \
                                    .Ctx<ffi::PlatformStream<cudaStream_t>>() \
                                    .Arg<ffi::BufferR0<ffi::U64>>()           \
                                    .Arg<ffi::BufferR1<ffi::U64>>()           \
                                    .Ret<ffi::BufferR1<ffi::U64>>())
WARPHEAP_HANDLER(warpheap_malloc, take);
WARPHEAP_HANDLER(warpheap_free, give);
