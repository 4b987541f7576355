// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The pool: memory of any kind handed out from the host.

#include <warpheap/pool/adaptors/cccl.hpp>
#include <warpheap/pool/adaptors/checked.hpp>
#include <warpheap/pool/adaptors/counting.hpp>
#include <warpheap/pool/adaptors/limit.hpp>
#include <warpheap/pool/adaptors/logging.hpp>
#include <warpheap/pool/adaptors/pmr.hpp>
#include <warpheap/pool/adaptors/retry.hpp>
#include <warpheap/pool/adaptors/source.hpp>
#include <warpheap/pool/adaptors/thrust.hpp>
#include <warpheap/pool/adaptors/tracking.hpp>
#include <warpheap/pool/engine.hpp>
#include <warpheap/pool/errors.hpp>
#include <warpheap/pool/pool.hpp>
#include <warpheap/pool/segregated_fit.hpp>
#include <warpheap/pool/sharing.hpp>
#include <warpheap/pool/space.hpp>
#include <warpheap/pool/statistics.hpp>
#include <warpheap/pool/stream_order.hpp>
#include <warpheap/pool/stream_pool.hpp>
#include <warpheap/pool/tree_fit.hpp>
