# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The run on a machine with a GPU and no network: build, test, check, measure."""
