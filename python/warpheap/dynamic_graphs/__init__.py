# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamic graphs on each heap: measured by their driver, one process for a system and a graph, with a report."""
