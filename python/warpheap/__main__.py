# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m warpheap`."""

from warpheap.cli import main

main()
