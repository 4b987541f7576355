# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""warpheap: the survey of GPU memory allocators."""

__version__ = "0.1.0"
