# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap watch`: what running processes have of memory, from the counters that they publish. See docs/watch.md."""

from warpheap.watch.run import Job, check, run

__all__ = ["Job", "check", "run"]
