# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Two experiments with what threads wait with: measured by their driver within a budget, and a report with figures."""
