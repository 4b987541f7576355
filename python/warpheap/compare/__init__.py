# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Two records, or two allocators of one, point by point: `warpheap compare`."""
