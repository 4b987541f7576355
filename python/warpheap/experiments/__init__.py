# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What commands share that run a benchmark driver of their own: finding it, its records, limits, and a page."""
