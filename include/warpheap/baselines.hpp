// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Forms of the literature that tests and benchmarks compare the library's own forms with. No other layer includes this
/// header.

#include <warpheap/baselines/collective_mutex.hpp>
#include <warpheap/baselines/counting_semaphore.hpp>
#include <warpheap/baselines/state_buddy.hpp>
