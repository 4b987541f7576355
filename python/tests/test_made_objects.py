# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What `Heap`, `Pool` and `Graph` have in common: how an object of a library is held, how it ends, its arguments."""

import copy
import gc
import os
import pickle
import threading
from collections.abc import Callable
from ctypes import c_void_p
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from warpheap.dynamic import Graph
from warpheap.dynamic import library as graphs
from warpheap.heaps import Heap
from warpheap.heaps import library as heaps
from warpheap.native.arguments import design_name, stream_number, whole_number
from warpheap.native.made_object import MadeObject
from warpheap.stream_pools import Pool
from warpheap.stream_pools import library as pools

KINDS: dict[str, tuple[Any, Callable[[], Any]]] = {
    "heap": (heaps, lambda: Heap(16 << 20, backend="host")),
    "pool": (pools, lambda: Pool(backend="host", reserve_bytes=64 << 20)),
    "graph": (graphs, lambda: Graph(10, backend="host", heap_bytes=16 << 20)),
}


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest) -> Callable[[], MadeObject]:
    """Makes an object of one of the classes."""
    library, make = KINDS[request.param]
    if library.find_library("host") is None:
        pytest.skip(f"libwarpheap_{request.param}_host.so is not built")
    return make


class Thing(MadeObject):
    """An object of a library that is not there."""

    _kind = "thing"

    def __init__(self, ended: list[int], owned: bool = True) -> None:
        library: Any = SimpleNamespace(backend="host")
        self._hold(library, c_void_p(4096), ended.append if owned else None)


def test_an_object_ends_with_its_block_and_says_so(make) -> None:
    with make() as made:
        assert (made.closed, made.backend) == (False, "host")
    assert made.closed
    made.close()
    with pytest.raises(ValueError, match="is closed: make another one"), made:
        pass


def test_a_copy_is_refused_since_two_would_end_one_object(make) -> None:
    with make() as made:
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="is neither copied nor pickled"):
                attempt(made)
        assert not made.closed


def test_an_object_ends_once() -> None:
    ended: list[int] = []
    thing = Thing(ended)
    threads = [threading.Thread(target=thing.close) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ended == [4096], "it ends by close, while it is still referred to"
    del thing
    gc.collect()
    assert ended == [4096]


def test_a_forgotten_object_ends_and_one_of_another_owner_does_not() -> None:
    ended: list[int] = []
    for owned in (True, False):
        thing = Thing(ended, owned)
        del thing
        gc.collect()
    with Thing(ended, owned=False) as thing:
        pass
    assert thing.closed
    assert ended == [4096]


@pytest.mark.parametrize("how", ["close", "forget"])
def test_a_forked_child_ends_nothing_of_its_parent(how: str) -> None:
    ended: list[int] = []
    thing = Thing(ended)
    child = os.fork()
    if child == 0:
        if how == "close":
            thing.close()
        del thing
        gc.collect()
        os._exit(len(ended))
    assert os.waitpid(child, 0)[1] == 0
    thing.close()
    assert ended == [4096]


def test_an_object_that_was_never_made_is_closed() -> None:
    halfway = Thing.__new__(Thing)
    halfway.close()
    assert halfway.closed
    with pytest.raises(ValueError, match="the thing is closed"):
        halfway._open()


# --- Arguments --------------------------------------------------------------------------------------------------------


def test_numbers_that_cannot_be_right_are_named() -> None:
    assert whole_number(np.int64(7), "count", 7) == 7
    with pytest.raises(TypeError, match="count is '7': it is a whole number"):
        whole_number("7", "count", 7)
    with pytest.raises(ValueError, match="count is 8: it is a whole number; numbers are from 0 to 7"):
        whole_number(8, "count", 7)
    with pytest.raises(TypeError, match="design is None: it is the name of a design"):
        design_name(None)


def test_a_number_of_a_stream_is_of_any_integer() -> None:
    assert stream_number(np.uint64(2**63)) == 2**63


@pytest.mark.skipif(graphs.find_library("host") is None, reason="libwarpheap_graph_host.so is not built")
def test_a_graph_names_the_argument_that_is_wrong() -> None:
    with pytest.raises(TypeError, match=r"vertices is 1\.5: it is a whole number"):
        Graph(1.5, backend="host")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="design is 3: it is the name"):
        Graph(1, backend="host", design=3)  # type: ignore[arg-type]
    with Graph(3, backend="host", heap_bytes=16 << 20, weighted=np.True_) as graph:  # type: ignore[arg-type]
        assert graph.add_edges_from([(0, 1, 2.0)]).added == 2
