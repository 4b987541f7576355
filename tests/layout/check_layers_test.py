# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""tools/check_layers: a clean tree passes, and each thing that it is there to find is found where it is."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SPDX = "// SPDX-FileCopyrightText: 2026 The warpheap authors\n// SPDX-License-Identifier: Apache-2.0\n#pragma once\n"
FIRST_LINE = SPDX.count("\n") + 1

CLEAN = {
    "include/warpheap.hpp": "#include <warpheap/heap.hpp>\n#include <warpheap/designs/slab/slab.hpp>\n",
    "include/warpheap/platform.hpp": "#include <warpheap/platform/bits.hpp>\n",
    "include/warpheap/platform/bits.hpp": (
        "#include <atomic>\nvolatile int of_the_platform;\nint f() { return __popc(1); }\n"
    ),
    "include/warpheap/platform/cuda/bits.hpp": "",
    "include/warpheap/platform/host/bits.hpp": "",
    "include/warpheap/sync/lock.hpp": "#include <cstdint>\n#include <warpheap/platform.hpp>\n",
    "include/warpheap/baselines.hpp": "#include <warpheap/baselines/states.hpp>\n",
    "include/warpheap/baselines/states.hpp": "#include <warpheap/structures.hpp>\n#include <warpheap/sync.hpp>\n",
    "include/warpheap/allocator/concept.hpp": "#include <warpheap/platform.hpp>\n",
    "include/warpheap/designs/registry.hpp": "#include <warpheap/designs/bump/bump.hpp>\n",
    "include/warpheap/designs/bump/bump.hpp": "#include <warpheap/allocator.hpp>\n",
    "include/warpheap/designs/slab/slab.hpp": "#include <warpheap/structures.hpp>\n",
    "include/warpheap/heap/heap.hpp": "#include <warpheap/allocator.hpp>\n#include <warpheap/heap/ref.hpp>\n",
    "include/warpheap/pool/pool.hpp": "#include <warpheap/platform.hpp>\n",
    "include/warpheap/pool/face.h": "#include <stddef.h>\n",
    "src/c_api/face.cpp": "#include <warpheap/pool.hpp>\n#include <warpheap/pool/face.h>\n",
    "src/pool/driver_runtime.cpp": "#include <atomic>\n#include <cuda.h>\nint cudaFree(void*);\n",
    "src/executor/worker.cpp": '#include <thread>\n#include <warpheap/platform/bits.hpp>\n#include "worker.hpp"\n',
}

LOCK = "include/warpheap/sync/lock.hpp"
BUMP = "include/warpheap/designs/bump/bump.hpp"


@pytest.fixture
def tree(tmp_path):
    """Writes a clean tree, with `body` in place of the file `name`."""

    def write(name: str = LOCK, body: str | None = None) -> Path:
        for path, text in {**CLEAN, **({} if body is None else {name: body})}.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(SPDX + text)
        return tmp_path

    return write


def call_check(root: Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, REPOSITORY / "tools/check_layers", root], capture_output=True, text=True)


def run_check(root: Path) -> tuple[int, list[str]]:
    check = call_check(root)
    assert check.stderr == ""
    return check.returncode, check.stdout.splitlines()


def assert_found(root: Path, name: str, line: int, *words: str) -> None:
    status, findings = run_check(root)
    assert status == 1
    assert len(findings) == 1, findings
    assert findings[0].startswith(f"{name}:{line}: ")
    for word in words:
        assert word in findings[0]


def test_clean_tree_passes(tree):
    status, findings = run_check(tree())
    assert (status, len(findings)) == (0, 1), findings


@pytest.mark.parametrize(
    ("name", "included", "words"),
    [
        ("include/warpheap/platform/bits.hpp", "sync.hpp", "not below platform"),
        ("include/warpheap/sync/lock.hpp", "structures.hpp", "not below sync"),
        ("include/warpheap/structures/ring.hpp", "allocator.hpp", "not below structures"),
        ("include/warpheap/structures/ring.hpp", "baselines.hpp", "only tests and benchmarks"),
        ("include/warpheap/sync/lock.hpp", "baselines/states.hpp", "only tests and benchmarks"),
        ("include/warpheap/designs/bump/bump.hpp", "baselines.hpp", "only tests and benchmarks"),
        ("include/warpheap/heap/heap.hpp", "baselines.hpp", "only tests and benchmarks"),
        ("include/warpheap.hpp", "baselines.hpp", "only tests and benchmarks"),
        ("src/c_api/face.cpp", "baselines.hpp", "only tests and benchmarks"),
        ("include/warpheap/baselines/states.hpp", "allocator.hpp", "not below baselines"),
        ("include/warpheap/baselines/states.hpp", "sync/lock.hpp", "façade <warpheap/sync.hpp>"),
        ("include/warpheap/allocator.hpp", "heap.hpp", "not below allocator"),
        ("include/warpheap/heap/heap.hpp", "graph.hpp", "not below heap"),
        ("include/warpheap/heap/heap.hpp", "designs/bump/bump.hpp", "not below heap"),
        ("include/warpheap/allocator/concept.hpp", "designs/bump/bump.hpp", "not below allocator"),
        ("include/warpheap/graph/graph.hpp", "designs/bump/bump.hpp", "not below graph"),
        ("include/warpheap/pool/pool.hpp", "sync.hpp", "not below pool"),
        ("include/warpheap/primitives/sort.hpp", "sync.hpp", "not below primitives"),
        ("include/warpheap/primitives/sort.hpp", "platform/bits.hpp", "façade <warpheap/platform.hpp>"),
        ("include/warpheap/heap/heap.hpp", "primitives.hpp", "not below heap"),
        ("include/warpheap/graph/graph.hpp", "primitives/sort.hpp", "façade <warpheap/primitives.hpp>"),
        ("include/warpheap/heap/heap.hpp", "pool.hpp", "not below heap"),
        ("include/warpheap/sync/lock.hpp", "platform/bits.hpp", "façade <warpheap/platform.hpp>"),
        ("include/warpheap/heap/heap.hpp", "allocator/concept.hpp", "façade <warpheap/allocator.hpp>"),
        ("include/warpheap.hpp", "designs/bump/detail/bump.hpp", "façade <warpheap/designs/bump/bump.hpp>"),
        ("include/warpheap.hpp", "heap/heap.hpp", "façade <warpheap/heap.hpp>"),
        ("include/warpheap/designs/bump/bump.hpp", "designs/slab/slab.hpp", "sibling"),
        ("include/warpheap/designs/bump/detail/bump.hpp", "designs/slab/slab.hpp", "sibling"),
        ("include/warpheap/designs/bump/bump.hpp", "designs/registry.hpp", "brings in every family"),
        ("include/warpheap/heap/heap.hpp", "cellar.hpp", "of no layer"),
        ("src/executor/worker.cpp", "heap.hpp", "not below platform"),
        ("src/c_api/heap.cpp", "platform/bits.hpp", "façade <warpheap/platform.hpp>"),
    ],
)
def test_include_that_does_not_point_down_to_a_facade(tree, name, included, words):
    root = tree(name, f"// A comment.\n#include <warpheap/{included}>\n")
    assert_found(root, name, FIRST_LINE + 1, f"<warpheap/{included}>", words)


def test_quoted_include(tree):
    assert_found(tree(LOCK, '#include "lock_body.hpp"\n'), LOCK, FIRST_LINE, "lock_body.hpp")


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("#if defined(__CUDACC__)\n#endif", "__CUDACC__"),
        ("#ifdef __CUDA_ARCH__\n#endif", "__CUDA_ARCH__"),
        ("#if defined(WARPHEAP_BACKEND_HOST)\n#endif", "WARPHEAP_BACKEND_HOST"),
        ("__device__ int f();", "__device__"),
        ("int f() { return __shfl_sync(1, 2, 3); }", "__shfl_sync"),
        ("int f() { return __ballot_sync(1, 2); }", "__ballot_sync"),
        ("void f() { __syncwarp(); }", "__syncwarp"),
        ("void f() { __nanosleep(20); }", "__nanosleep"),
        ("int f(int x) { return __builtin_popcount(x); }", "__builtin_popcount"),
        ("void f(int* x) { atomicAdd(x, 1); }", "atomicAdd"),
        ("void f(int* x) { atomicCAS_block(x, 1, 2); }", "atomicCAS_block"),
        ("int f() { return threadIdx.x; }", "threadIdx"),
        ("void f() { NV_IF_TARGET(NV_IS_DEVICE, (g();)) }", "NV_IF_TARGET"),
        ('void f() { asm("nop"); }', "asm"),
        ("#include <atomic>", "<atomic>"),
        ("#include <thread>", "<thread>"),
        ("#include <cuda/atomic>", "<cuda/atomic>"),
        ("#include <cub/device/device_scan.cuh>", "<warpheap/primitives.hpp>"),
        ("#include <thrust/sort.h>", "<warpheap/primitives.hpp>"),
        ("#include <cuda_runtime.h>", "<cuda_runtime.h>"),
        ("extern std::atomic<int> x;", "std::atomic"),
        ("void f(int& x) { std::atomic_ref{x}; }", "std::atomic_ref"),
        ("void f(int& x) { cuda::atomic_ref{x}; }", "cuda::atomic_ref"),
        ("extern std::thread x;", "std::thread"),
        ("extern volatile int x;", "volatile"),
        ("void f() { cudaDeviceSynchronize(); }", "cudaDeviceSynchronize"),
    ],
)
@pytest.mark.parametrize("name", [LOCK, "include/warpheap/heap/heap.hpp", "src/c_api/heap.cpp"])
def test_machine_outside_the_platform(tree, name, code, word):
    assert_found(tree(name, f"\n{code}\n"), name, FIRST_LINE + 1, f"{word}")


@pytest.mark.parametrize(
    "code",
    [
        "// __CUDACC__, volatile and std::atomic in a comment\n",
        "/* asm\n volatile */\n",
        'const char* text = "volatile // asm";\n',
        'const char* text = R"(__CUDACC__ " volatile)";\n',
        "int big = 1'000'000; int volatility; int asm_lines;\n",
        "#define LOG(...) print(__FILE__, __LINE__, __func__, __VA_ARGS__)\n",
    ],
)
def test_words_that_only_look_like_the_machine(tree, code):
    status, findings = run_check(tree(LOCK, code))
    assert status == 0, findings


@pytest.mark.parametrize(
    "loop",
    [
        "while (view.load(acquire, device) != 0) {}",
        "while (view.load(acquire, device) != 0);",
        "while (true) { if (view.load(acquire, device) == 0) break; }",
        "for (;;) { if (view.load(acquire, device) == 0) break; }",
        "for (; view.load(acquire, device) != 0;) {}",
        "do { turn = view.load(acquire, device); } while (turn != mine);",
        "while (view.exchange(1, acquire, device) != 0) {}",
        "while (view.load(acquire, device) != 0) { backoff wait; }",
    ],
)
def test_spin_without_backoff(tree, loop):
    root = tree("include/warpheap/sync/lock.hpp", f"void wait() {{\n  {loop}\n}}\n")
    assert_found(root, LOCK, FIRST_LINE + 1, "backoff")


@pytest.mark.parametrize(
    "loop",
    [
        "backoff wait; while (view.load(acquire, device) != 0) wait.pause();",
        "do { wait.pause(); } while (view.load(acquire, device) != 0);",
        "do { x = view.load(relaxed, device); } while (!view.compare_exchange(x, x + 1, relaxed, device));",
        "for (int i = 0; i < n; ++i) sum += atomic_view{values[i]}.load(relaxed, device);",
        "for (auto& value : values) sum += atomic_view{value}.load(relaxed, device);",
        "// not a spin: goes to the next node\n  while (node) node = atomic_view{node->next}.load(acquire, device);",
        "while (!done) done = step();",
    ],
)
def test_loop_that_is_no_spin(tree, loop):
    status, findings = run_check(tree(LOCK, f"void wait() {{\n  {loop}\n}}\n"))
    assert status == 0, findings


HELD = "tests/sync/host/held_test.cpp"
HOLD = 'void test() {{ held_lane late{{"{}", {{.thread = 0}}}}; }}\n'


def write_test(root: Path, body: str) -> None:
    file = root / HELD
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(SPDX + body)


def test_stop_point_at_which_a_test_holds_a_lane(tree):
    root = tree(LOCK, 'void lock() { stop_point("lock.take.seen"); }\n')
    write_test(root, HOLD.format("lock.take.seen"))
    status, findings = run_check(root)
    assert status == 0, findings


def test_stop_point_of_the_test_itself(tree):
    root = tree()
    write_test(root, 'void own() { stop_point("test.own.place"); }\n' + HOLD.format("test.own.place"))
    status, findings = run_check(root)
    assert status == 0, findings


def test_held_lane_where_no_stop_point_is(tree):
    root = tree(LOCK, '// stop_point("lock.take.seen");\n')
    write_test(root, HOLD.format("lock.take.seen"))
    assert_found(root, HELD, FIRST_LINE, "no stop point", "lock.take.seen")


def test_stop_point_without_a_test(tree):
    root = tree(LOCK, 'void lock() { stop_point("lock.take.seen"); }\n')
    write_test(root, HOLD.format("lock.take.seen").replace("void", "// void"))
    assert_found(root, LOCK, FIRST_LINE, "no test holds a lane", "lock.take.seen")


def test_two_stop_points_of_one_name(tree):
    root = tree(LOCK, 'void lock() { stop_point("lock.take.seen"); }\nvoid two() { stop_point("lock.take.seen"); }\n')
    write_test(root, HOLD.format("lock.take.seen"))
    assert_found(root, LOCK, FIRST_LINE + 1, "is also at")


@pytest.mark.parametrize("name", ['"taken"', '"Lock.take.seen"', "name"])
def test_stop_point_without_a_name(tree, name):
    root = tree(LOCK, f"void lock() {{ stop_point({name}); }}\n")
    assert_found(root, LOCK, FIRST_LINE, "PART.OPERATION.STEP")


@pytest.mark.parametrize("layer", ["platform", "primitives"])
@pytest.mark.parametrize(("there", "missing"), [("cuda", "host"), ("host", "cuda")])
def test_file_of_a_backend_without_its_twin(tree, layer, there, missing):
    root = tree(f"include/warpheap/{layer}/{there}/clock.hpp", "")
    assert_found(root, f"include/warpheap/{layer}/{missing}/clock.hpp", 1, f"{layer}/{there}/clock.hpp")


@pytest.mark.parametrize(
    "name",
    [
        BUMP,
        "include/warpheap/pool/face.h",
        "src/executor/worker.cpp",
        "tests/platform/bits_test.cpp",
        "tools/tool",
        "run",
    ],
)
def test_file_without_licence(tree, name):
    root = tree()
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("#!/bin/sh\n" if "." not in name else "int x;\n")
    assert_found(root, name, 1, "SPDX-License-Identifier: Apache-2.0")


def test_folder_that_is_no_repository(tmp_path):
    check = call_check(tmp_path)
    assert check.returncode == 2
    assert "root of the repository" in check.stderr
