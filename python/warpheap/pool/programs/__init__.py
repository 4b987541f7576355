# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Programs whose calls of the driver are recorded; each is run by the Python that has its library."""
