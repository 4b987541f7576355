// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Synchronisation: what threads wait with. Upper layers include this header and nothing below it.

#include <warpheap/sync/batch_ring.hpp>
#include <warpheap/sync/bulk_semaphore.hpp>
#include <warpheap/sync/change_counter.hpp>
#include <warpheap/sync/search_proof.hpp>
#include <warpheap/sync/spin_lock.hpp>
#include <warpheap/sync/srcu.hpp>
#include <warpheap/sync/unit_count.hpp>
#include <warpheap/sync/warp_request.hpp>
