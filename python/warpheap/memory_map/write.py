# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""`warpheap snapshot`: a snapshot in a file as a page or as a pickle."""

import pickle
from pathlib import Path

from warpheap.errors import UsageError
from warpheap.files import write_text
from warpheap.memory_map.page import page
from warpheap.memory_map.viewer import for_pytorch
from warpheap.stream_pools import Snapshot


def write(file: Path, html: Path | None, pytorch: Path | None) -> None:
    """Write what was asked for. Raises `UsageError` for a file that is no snapshot; nothing is written then."""
    if html is None and pytorch is None:
        raise UsageError("name what to write: --page FILE, --pytorch FILE or both")
    try:
        text = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
    try:
        snapshot = Snapshot.read(text)
    except UsageError as problem:
        raise UsageError(f"{file}: {problem}; a pool writes one by snapshot() or wh_pool_snapshot") from problem
    if html is not None:
        write_text(html, page(snapshot, file.stem))
    if pytorch is not None:
        pytorch.write_bytes(pickle.dumps(for_pytorch(snapshot)))
