// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap.hpp>

// Adds up `count` numbers, each thread in a block of its own.
std::uint64_t add_up(warpheap::heap_ref<> heap, std::uint64_t count);
