# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap run`: programs whose calls of CUDA's driver for memory are counted, checked or traced."""
