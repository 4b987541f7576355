// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "any_heap.hpp"

namespace warpheap::interface {

/// The designs that heaps can have, the default first; null ends the list.
extern const named_design* const heap_designs[];
/// Their names, separated by commas.
extern const char* const heap_design_names;

}  // namespace warpheap::interface
