# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The pool's experiments: its benchmark driver and its peers measured within a budget, and a report with figures."""
