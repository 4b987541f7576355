# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the classes share that stand on a compiled library: how one is found and called, and arrays in and out."""
