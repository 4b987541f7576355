# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Checks PyTorch over a pool, on a machine with a GPU: pool_torch.py [DEPTH...]

Each depth of `none`, `mem_pool`, `symbols` and `full` runs in a process of its own; without a word all of them do.
`none` is PyTorch's own allocator, which the same checks hold for. Ends with status 1 if something is wrong.
pool_torch_memory.py has the checks that need a GPU of their own.
"""

import re
import sys
from typing import Any

import torch_depths
from checks import Checks, microseconds

# How many times as long as with PyTorch's own allocator `torch.empty` may take.
SLOWEST = {"mem_pool": 4.0, "symbols": 6.0, "full": 3.0}
MEBIBYTE = 1 << 20


def owned(torch: Any, pool: Any) -> str:
    """Tensors lie in the pool."""
    tensors = [torch.empty(bytes, device="cuda", dtype=torch.uint8) for bytes in (1, 1000, 30 * MEBIBYTE)]
    assert all(pool.owns(each.data_ptr()) for each in tensors)
    assert all(each.data_ptr() % 256 == 0 for each in tensors)
    return f"{pool.statistics().committed_bytes >> 20} MiB committed"


def work(torch: Any) -> None:
    """Products and gradients are those of the host."""
    a = torch.arange(512 * 512, device="cuda", dtype=torch.float64).reshape(512, 512) % 97
    assert torch.equal((a @ a).cpu(), a.cpu() @ a.cpu())
    layer = torch.nn.Linear(512, 512, device="cuda", dtype=torch.float64)
    layer(a).sum().backward()
    assert torch.allclose(layer.weight.grad.cpu(), a.cpu().sum(0).expand(512, 512))


def churn(torch: Any) -> None:
    """Tensors of many sizes keep their contents while others come and go."""
    kept: list[tuple[int, Any]] = []
    for number in range(2000):
        kept.append((number, torch.full((1 + number * 7919 % 50_000,), number, device="cuda", dtype=torch.int32)))
        if len(kept) > 100:
            index = number * 31 % len(kept)
            value, tensor = kept.pop(index)
            assert bool((tensor == value).all())
    assert all(bool((tensor == value).all()) for value, tensor in kept)


def statistics(torch: Any) -> str:
    """Figures follow a tensor."""
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    tensor = torch.empty(64 * MEBIBYTE, device="cuda", dtype=torch.uint8)
    held = torch.cuda.memory_allocated() - before
    assert 64 * MEBIBYTE <= held <= 64 * MEBIBYTE + 4096, held
    assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
    del tensor
    assert torch.cuda.memory_allocated() == before
    assert torch.cuda.max_memory_allocated() >= before + held
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == before
    figures = torch.cuda.memory_stats()
    torch.cuda.reset_accumulated_memory_stats()
    assert torch.cuda.memory_stats()["allocation.all.allocated"] == 0 < figures["allocation.all.allocated"]
    assert "allocated" in torch.cuda.memory_summary().lower()
    return f"{len(figures)} figures"


def empty_cache(torch: Any, committed: Any) -> str:
    """Memory without tensors goes back to the GPU."""
    tensor = torch.empty(1 << 30, device="cuda", dtype=torch.uint8)
    torch.cuda.synchronize()
    with_tensor = committed()
    del tensor
    torch.cuda.empty_cache()
    assert with_tensor - committed() >= 1 << 30, (with_tensor, committed())
    return f"{with_tensor >> 20} MiB, then {committed() >> 20} MiB"


def snapshot(torch: Any) -> str:
    """The snapshot lists a tensor as allocated."""
    tensor = torch.empty(5 * MEBIBYTE, device="cuda", dtype=torch.uint8)
    found = 0
    segments = torch.cuda.memory_snapshot()
    for segment in segments:
        at = segment["address"]
        for block in segment["blocks"]:
            if at == tensor.data_ptr():
                assert block["state"] == "active_allocated" and block["size"] >= tensor.numel()
                found += 1
            at += block["size"]
        assert at == segment["address"] + segment["total_size"]
    assert found == 1, found
    return f"{len(segments)} segments"


def out_of_memory(torch: Any) -> str:
    """A tensor that cannot be held raises PyTorch's own error, and the next one is served."""
    for bytes in (1 << 42, 1 << 50):
        try:
            torch.empty(bytes, device="cuda", dtype=torch.uint8)
        except torch.OutOfMemoryError as error:
            text = str(error).splitlines()[0]
        else:
            raise AssertionError("a tensor without memory")
    assert int(torch.ones(1000, device="cuda").sum()) == 1000
    return text[:90]


def memory_fraction(torch: Any) -> str:
    """A process that may have a fraction of the memory gets no more, and all of it serves again."""
    torch.cuda.empty_cache()
    count = torch.cuda.memory_reserved() + 256 * MEBIBYTE
    torch.cuda.set_per_process_memory_fraction(0.0)
    try:
        torch.empty(count, device="cuda", dtype=torch.uint8)
    except torch.OutOfMemoryError as error:
        text = str(error).splitlines()[0]
    else:
        raise AssertionError("a tensor above the fraction")
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert torch.empty(count, device="cuda", dtype=torch.uint8).numel() == count
    return text[:90]


def cudnn_benchmark(torch: Any) -> None:
    """cuDNN tries its algorithms, for which it asks how much memory there is."""
    layer = torch.nn.Conv2d(8, 8, 3, device="cuda")
    source = torch.ones(4, 8, 64, 64, device="cuda")
    torch.backends.cudnn.benchmark = True
    try:
        found = layer(source)
    finally:
        torch.backends.cudnn.benchmark = False
    # Algorithms that round the factors differ by more than the last digits.
    assert torch.allclose(found.cpu(), layer.cpu()(source.cpu()), atol=2e-2)


def record_stream(torch: Any) -> None:
    """A tensor that another stream uses keeps its memory until that stream is done."""
    side = torch.cuda.Stream()
    count = 4 * MEBIBYTE
    for number in range(5):
        tensor = torch.full((count,), number, device="cuda", dtype=torch.int32)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            torch.cuda._sleep(100_000_000)
            copy = tensor + 0
        tensor.record_stream(side)
        del tensor
        garbage = [torch.full((count,), -1, device="cuda", dtype=torch.int32) for _ in range(8)]
        side.synchronize()
        assert bool((copy == number).all()), f"the memory was handed out too early, in round {number}"
        del garbage


def two_streams(torch: Any) -> None:
    """Memory that one stream freed is not written by another before the first is done."""
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    count = 4 * MEBIBYTE
    for number in range(10):
        with torch.cuda.stream(first):
            tensor = torch.full((count,), number, device="cuda", dtype=torch.int32)
            torch.cuda._sleep(20_000_000)
            copy = tensor + 0
            del tensor
        with torch.cuda.stream(second):
            garbage = [torch.full((count,), -1, device="cuda", dtype=torch.int32) for _ in range(8)]
        torch.cuda.synchronize()
        assert bool((copy == number).all()), number
        del garbage


def graph(torch: Any) -> None:
    """A graph computes anew each time it runs, whatever was allocated since."""
    source = torch.zeros(MEBIBYTE, device="cuda")
    taken = torch.cuda.CUDAGraph()
    with torch.cuda.graph(taken):
        inner = source * 2
        result = inner + 1
        del inner
        last = result * 3
    garbage = [torch.full((MEBIBYTE,), -1.0, device="cuda") for _ in range(50)]
    for value in (1.0, 5.0, 9.0):
        source.fill_(value)
        taken.replay()
        more = [torch.full((MEBIBYTE,), -2.0, device="cuda") for _ in range(5)]
        torch.cuda.synchronize()
        assert bool((result == 2 * value + 1).all()) and bool((last == 6 * value + 3).all()), value
        assert all(bool((each == -1).all()) for each in garbage) and all(bool((each == -2).all()) for each in more)
    del taken, result, last
    torch.cuda.empty_cache()


def graphs_of_one_pool(torch: Any) -> None:
    """Graphs that share a private pool run one after another."""
    pool = torch.cuda.graph_pool_handle()
    source = torch.zeros(MEBIBYTE, device="cuda")
    graphs, results = [], [source]
    for _ in range(3):
        taken = torch.cuda.CUDAGraph()
        with torch.cuda.graph(taken, pool=pool):
            results.append(results[-1] * 2 + 1)
        graphs.append(taken)
    for value in (1.0, 4.0):
        source.fill_(value)
        for taken in graphs:
            taken.replay()
        torch.cuda.synchronize()
        assert bool((results[3] == 8 * value + 7).all())
    del graphs, results
    torch.cuda.empty_cache()


def graph_of_two_streams(torch: Any) -> None:
    """A captured stream forks and joins, and both take memory."""
    side = torch.cuda.Stream()
    source = torch.ones(MEBIBYTE, device="cuda")
    taken = torch.cuda.CUDAGraph()
    with torch.cuda.graph(taken):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            left = source * 3
        right = source * 5
        torch.cuda.current_stream().wait_stream(side)
        result = left + right
    source.fill_(2)
    taken.replay()
    torch.cuda.synchronize()
    assert bool((result == 16).all())


def pool_of_pytorch(torch: Any) -> None:
    """A MemPool of PyTorch's own, within all else, keeps its tensors."""
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        inner = torch.full((MEBIBYTE,), 3.0, device="cuda")
    outer = [torch.full((MEBIBYTE,), 4.0, device="cuda") for _ in range(20)]
    assert bool((inner == 3).all()) and all(bool((each == 4).all()) for each in outer)
    assert any(each["segment_pool_id"] == pool.id for each in torch.cuda.memory_snapshot())
    del inner, pool
    torch.cuda.empty_cache()


def compiled(torch: Any) -> None:
    """`torch.compile` makes graphs of functions, whose outputs feed each other in changing orders."""
    first = torch.compile(lambda a: (a * 2 + 1).relu(), mode="reduce-overhead")
    second = torch.compile(lambda a: a * a - 3, mode="reduce-overhead")
    third = torch.compile(lambda a: (a + 4).sum(), mode="reduce-overhead")
    for number in range(12):
        torch.compiler.cudagraph_mark_step_begin()
        source = torch.full((10_000,), float(number % 5), device="cuda")
        value = 2.0 * (number % 5) + 1
        middle = first(source)
        if number % 3 != 1:
            middle, value = second(middle), value * value - 3
        if number % 2 == 0:
            assert bool((middle == value).all()), number
        total = third(middle)
        assert abs(float(total) - 10_000 * (value + 4)) <= 1e-3 * abs(10_000 * (value + 4)), number


def trained(torch: Any) -> None:
    """A compiled module with graphs learns as one without."""
    torch.manual_seed(1)
    layer = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).cuda()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
    step = torch.compile(layer, mode="reduce-overhead")
    source = torch.randn(256, 64, device="cuda")
    target = source.sum(1, keepdim=True)
    losses = []
    for _ in range(20):
        torch.compiler.cudagraph_mark_step_begin()
        loss = torch.nn.functional.mse_loss(step(source), target)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss))
    assert losses[-1] < losses[0], losses


def all_checks(checks: Checks, depth: str, torch: Any, pool: Any) -> None:
    """The checks, and which of them a depth refuses."""
    whole = depth != "symbols"  # all of PyTorch's interface is served

    def time_of_empty() -> str:
        torch.cuda.synchronize()
        return f"torch.empty {microseconds(lambda: torch.empty(1000, device='cuda'), 100_000):.3f} us"

    if pool is not None:
        checks.served("owned", lambda: owned(torch, pool))
    checks.served("work", lambda: work(torch))
    checks.served("churn", lambda: churn(torch))
    checks.served("speed", time_of_empty)
    checks.served("record_stream", lambda: record_stream(torch))
    checks.served("two_streams", lambda: two_streams(torch))
    checks.served("out_of_memory", lambda: out_of_memory(torch))
    if depth in ("none", "full"):
        checks.served("empty_cache", lambda: empty_cache(torch, torch.cuda.memory_reserved))
    if depth in ("symbols", "full"):
        checks.served("pool_is_trimmed", lambda: empty_cache(torch, lambda: pool.statistics().committed_bytes))
    named = (("statistics", statistics, "getDeviceStats"), ("snapshot", snapshot, "snapshot"))
    for name, check, text in (*named, ("cudnn_benchmark", cudnn_benchmark, "cacheInfo")):
        if whole:
            checks.served(name, lambda check=check: check(torch))  # type: ignore[misc]
        else:
            checks.refused(name, lambda check=check: check(torch), text)  # type: ignore[misc]
    if depth == "full":
        checks.refused("history", torch.cuda.memory._record_memory_history, "history of memory is not recorded")
        checks.served("fraction", lambda: memory_fraction(torch))
    if not whole:
        checks.refused("graph", lambda: graph(torch), "captur")
        return
    checks.served("graph", lambda: graph(torch))
    checks.served("graphs_of_one_pool", lambda: graphs_of_one_pool(torch))
    checks.served("graph_of_two_streams", lambda: graph_of_two_streams(torch))
    if depth != "mem_pool":
        checks.served("pool_of_pytorch", lambda: pool_of_pytorch(torch))
    checks.served("compiled", lambda: compiled(torch), 300)
    checks.served("trained", lambda: trained(torch), 300)
    checks.served("work_again", lambda: work(torch))
    checks.served("statistics_again", lambda: statistics(torch))


def compare(said: dict[str, str]) -> None:
    """Compare the times of `torch.empty`; the program ends with status 1 if one is too long."""
    times = {}
    for depth, text in said.items():
        if found := re.search(r"torch\.empty ([\d.]+) us", text):
            times[depth] = float(found[1])
    own = times.pop("none", None)
    if own is None:
        return
    wrong = False
    for depth, time_us in times.items():
        ratio = time_us / own
        print(f"{depth}: torch.empty {time_us:.2f} us, {ratio:.2f} times PyTorch's own {own:.2f} us")
        if ratio > SLOWEST[depth]:
            print(f"FAIL {depth} speed: more than {SLOWEST[depth]} times")
            wrong = True
    if wrong:
        sys.exit(1)


if __name__ == "__main__":
    compare(torch_depths.run(sys.argv[1:], __doc__, all_checks, torch_depths.DEPTHS))
