// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/platform.hpp>

#if WARPHEAP_COMPILES_KERNELS

#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_select.cuh>

namespace warpheap::target {

template <class Predicate>
std::uint64_t select_work(std::uint32_t count) {
  std::size_t bytes = 0;
  const thrust::counting_iterator<std::uint32_t> all(0);
  std::uint32_t* const places = nullptr;
  // The size depends on types and count alone, so bytes of any value stand for a predicate.
  alignas(Predicate) unsigned char some[sizeof(Predicate)] = {};
  const auto& predicate = reinterpret_cast<const Predicate&>(some);
  cuda_must(cub::DeviceSelect::If(nullptr, bytes, all, places, places, count, predicate), "sizing a selection");
  return bytes;
}

template <class Predicate>
void select(work_memory work, Predicate predicate, std::uint32_t count, std::uint32_t* places,
            std::uint32_t* selected) {
  std::size_t bytes = work.bytes;
  const thrust::counting_iterator<std::uint32_t> all(0);
  cuda_must(cub::DeviceSelect::If(work.data, bytes, all, places, selected, count, predicate), "a selection");
}

}  // namespace warpheap::target

#else

namespace warpheap::target {

// A file that another compiler reads starts no kernels; the declarations let templates of it be read.
template <class Predicate>
std::uint64_t select_work(std::uint32_t count);
template <class Predicate>
void select(work_memory work, Predicate predicate, std::uint32_t count, std::uint32_t* places, std::uint32_t* selected);

}  // namespace warpheap::target

#endif
