# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""warpheap::dropin without a GPU: device malloc and free are warpheap's, and the host's are the system's."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = REPOSITORY / "examples/dropin/hash_table.cu"
SOURCE = REPOSITORY / "src/dropin/dropin.cu"


def run(*words: object) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def nvcc() -> Path:
    found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not Path(found).exists() or not shutil.which("readelf"):
        pytest.skip("nvcc or readelf is not installed")
    return Path(found).resolve()


def compiled(nvcc: Path, source: Path, folder: Path, *more: str) -> Path:
    """An object for separate linking, with machine code for one GPU."""
    result = folder / f"{source.stem}.o"
    run(nvcc, "-std=c++20", "-arch=sm_90", f"-I{REPOSITORY}/include", *more, "-c", "-o", result, source)
    return result


@pytest.fixture(scope="module")
def objects(nvcc, tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("dropin")
    return [compiled(nvcc, source, folder, "-rdc=true") for source in (PROGRAM, SOURCE)]


def device_symbols(nvcc: Path, objects: list[Path], folder: Path) -> dict[str, str]:
    """The symbols of linked device code, with what defines them: a section's number, or UND."""
    linked = folder / "linked.cubin"
    run(nvcc.parent / "nvlink", "--arch=sm_90", *objects, "-o", linked)
    rows = re.findall(r"^ *\d+: \S+ +\S+ +\S+ +\S+ +\S+ +(\S+) (\S+)$", run("readelf", "-sW", linked), re.MULTILINE)
    return {name: section for section, name in rows}


# Each form of `new` and `malloc` that the toolkit has for device code.
ALL_FORMS = """
#include <cstdlib>
struct wide { alignas(64) unsigned long long value; };
__global__ void use_all_forms(void** blocks) {
  blocks[0] = malloc(24);
  blocks[1] = new int;
  blocks[2] = new char[100];
  blocks[3] = new wide;
  blocks[4] = new wide[3];
  blocks[5] = __nv_aligned_device_malloc(100, 32);
  free(blocks[0]);
  delete static_cast<int*>(blocks[1]);
  delete[] static_cast<char*>(blocks[2]);
  delete static_cast<wide*>(blocks[3]);
  delete[] static_cast<wide*>(blocks[4]);
}
"""


def test_device_code_takes_nothing_of_the_toolkit_s_heap(nvcc, objects, tmp_path):
    source = tmp_path / "all_forms.cu"
    source.write_text(ALL_FORMS)
    program = compiled(nvcc, source, tmp_path, "-rdc=true")
    alone = {name for name, section in device_symbols(nvcc, [program], tmp_path).items() if section == "UND"}
    assert len([name for name in alone if "malloc" in name]) == 2  # else this test could not fail
    assert "free" in alone
    symbols = device_symbols(nvcc, [program, objects[1]], tmp_path)
    for name in alone:
        if "malloc" in name or name == "free":
            assert symbols.get(name, "UND").isdigit(), f"{name} is still the toolkit's"


def test_the_malloc_of_the_device_library_has_the_same_names(nvcc, tmp_path):
    """What stands for the toolkit's heap in programs that are compiled at run time stands for all of it, too."""
    source = tmp_path / "all_forms.cu"
    source.write_text(ALL_FORMS)
    texts = []
    for each in (source, REPOSITORY / "src/device/malloc.cu"):
        file = tmp_path / f"{each.stem}.ptx"
        run(nvcc, "-std=c++20", "-arch=sm_90", "-rdc=true", f"-I{REPOSITORY}/include", "-ptx", "-o", file, each)
        texts.append(file.read_text())
    function = r"\.func +(?:\([^)]*\) +)?(\w+)"
    wanted = {name for name in re.findall(r"\.extern " + function, texts[0]) if "malloc" in name or name == "free"}
    assert len(wanted) == 3
    assert wanted <= set(re.findall(r"\.visible " + function, texts[1]))


def test_host_code_keeps_malloc_and_free_of_the_system(objects):
    for name in ("malloc", "free", "_Znwm", "_ZdlPv"):
        defined = run("nm", "--defined-only", objects[1])
        assert not re.search(rf" [TtWw] {name}$", defined, re.MULTILINE), f"the host's {name} is replaced"


def test_two_libraries_of_a_process_have_a_dropin_each(objects):
    """What one shared library exports another one finds: so the drop-in exports nothing."""
    exported = run("readelf", "-sW", objects[1])
    for name in ("__wrap_", "use_as_default", "use_no_default", "devices8instance"):
        rows = [row for row in exported.splitlines() if name in row and " UND " not in row]
        assert rows, name
        assert not [row for row in rows if re.search(r"(GLOBAL|WEAK|UNIQUE) +DEFAULT", row)]


def test_program_starts_and_its_launches_come_to_the_dropin_first(nvcc, objects, tmp_path):
    listed = (REPOSITORY / "cmake/dropin.cmake").read_text()
    launches, others = (
        re.search(rf"set\(\s*dropin_{kind}\s+([^)]*)\)", listed).group(1).split() for kind in ("launches", "others")
    )
    wrapped = [f"--wrap={call}" for call in [*launches, *(f"{call}_ptsz" for call in launches), *others]]
    program = tmp_path / "hash_table"
    run(nvcc, "-arch=sm_90", *(f"-Xlinker={word}" for word in wrapped), "-o", program, *objects)
    symbols = run("nm", program)
    assert "__wrap___cudaLaunchKernel" in symbols
    # The program's own launch stub calls the wrapper.
    undefined = run("nm", "--undefined-only", objects[0])
    assert re.search(r"U (__cudaLaunchKernel|cudaLaunchKernel)$", undefined, re.MULTILINE)
    status = subprocess.run([program, "1000"], capture_output=True, text=True, timeout=120)
    assert status.returncode in (0, 77), status.stdout + status.stderr  # 77: without a GPU


def test_whole_program_compilation_is_refused_with_the_remedy(nvcc, tmp_path):
    done = subprocess.run(
        [nvcc, "-std=c++20", "-arch=sm_90", f"-I{REPOSITORY}/include", "-E", "-o", tmp_path / "x", SOURCE],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "CUDA_SEPARABLE_COMPILATION" in done.stderr
