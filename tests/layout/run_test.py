# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""./run: what it says of itself, and what it says when something is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parents[2] / "run"
VERBS = ("survey", "test", "gpu", "pool", "sync", "graph", "bench", "format", "docs", "wheel", "help")


def run(*arguments: str, path: Path | None = None) -> subprocess.CompletedProcess:
    environment = None if path is None else {"PATH": str(path)}
    return subprocess.run([RUN, *arguments], capture_output=True, text=True, env=environment)


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A folder for PATH with what a bare system has, and neither a compiler nor a package manager."""
    for tool in ("bash", "cat", "dirname", "env", "nproc", "tr"):
        found = shutil.which(tool)
        assert found
        (tmp_path / tool).symlink_to(found)
    return tmp_path


@pytest.mark.parametrize("arguments", [(), ("help",), ("--help",)])
def test_help_explains_every_verb_in_one_screen(arguments):
    shown = run(*arguments)
    assert shown.returncode == 0
    for verb in VERBS:
        assert f"./run {verb}" in shown.stdout
    lines = shown.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 120


def test_wrong_verb_names_the_right_ones():
    shown = run("surevy")
    assert shown.returncode == 2
    assert "'surevy'" in shown.stderr
    for verb in VERBS:
        assert verb in shown.stderr


def test_wrong_option_of_test_names_the_right_one():
    shown = run("test", "--quikc")
    assert shown.returncode == 2
    assert "--quick" in shown.stderr


@pytest.mark.parametrize("words", [("survey",), ("test",), ("bench", "--allocator", "bump")])
def test_missing_packages_are_named(bare_path, words):
    shown = run(*words, path=bare_path)
    assert shown.returncode == 2
    assert "g++ cmake ninja-build" in shown.stderr
    assert "install" in shown.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what `./run` reads before it builds, with a compiler and a CMake that note that they were called."""
    copy = tmp_path / "checkout"
    for name in ("run", "tools", "python/warpheap", "benchmarks", "include/warpheap/designs", "CMakePresets.json"):
        source = RUN.parent / name
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    for tool in ("cmake", "g++", "ninja", "apt-get"):
        program = tmp_path / "tools" / tool
        program.parent.mkdir(exist_ok=True)
        version = 'if [ "$1" = --version ]; then echo "cmake version 3.30"; exit 0; fi'
        program.write_text(f"#!/bin/sh\n{version}\ntouch {tmp_path}/worked\nexit 1\n")
        program.chmod(0o755)
    return copy


BAD_WORDS = [
    ("survey", "--frobnicate"),
    ("survey", "--preset", "xyz"),
    ("survey", "--allocators", "bmp"),
    ("survey", "--cases", "throughput", "--modes", "xyz"),
    ("survey", "--threads", "0"),
    ("survey", "--sizes", "9" * 5001),
    ("survey", "--threads", "1..1M", "--sizes", "4..8KiB+4"),
    ("survey", "--cases", "throughput", "--sizes", "1"),
    ("survey", "--backend", "metal"),
    ("sync", "--out", "out", "--cases", "xyz"),
    ("sync", "--out", "out", "--budget", "soon"),
    ("bench",),
    ("bench", "--frobnicate", "3"),
    ("bench", "--allocator", "bump", "--case", "xyz"),
    ("bench", "--allocator", "bump", "--case", "orders", "--mode", "xyz"),
    ("bench", "--allocator", "bump", "--threads", "many"),
    ("bench", "--allocator", "bmp"),
    ("docs", "--frobnicate"),
    ("format", "--frobnicate"),
    ("graph",),
    ("graph", "--fetch-dat"),
    ("graph", "--out", "out", "--preset", "large"),
    ("graph", "--out", "out", "--fetch-data"),
]
HELP = [
    ("survey", "--help"),
    ("sync", "--help"),
    ("bench", "--help"),
    ("docs", "--help"),
    ("format", "-h"),
    ("graph", "--help"),
]


def started(checkout: Path, words: tuple[str, ...]) -> subprocess.CompletedProcess:
    """`./run` of the copy, with the tools that note that they were called."""
    environment = {
        **os.environ,
        "PATH": f"{checkout.parent / 'tools'}:{os.environ['PATH']}",
        "PYTHON": sys.executable,
        "PYTHONPATH": "",
    }
    command = [checkout / "run", *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=checkout, timeout=60)


@pytest.mark.parametrize("words", [*BAD_WORDS, *HELP], ids=lambda words: " ".join(words)[:40])
def test_words_come_before_work(checkout: Path, words: tuple[str, ...]):
    done = started(checkout, words)
    assert done.returncode == (0 if words in HELP else 2), done.stderr
    if words in HELP:
        assert f"./run {words[0]}" in done.stdout or "--" in done.stdout
    else:
        assert done.stdout == ""
    assert not (checkout.parent / "worked").exists(), "it built before it read the words"
    assert not (checkout / "build").exists()
    assert not (checkout / "out").exists()


def test_right_words_of_the_driver_start_the_build(checkout: Path):
    done = started(checkout, ("bench", "--case", "churn", "--allocator", "bump", "--threads", "64"))
    assert (checkout.parent / "worked").exists(), done.stderr


def test_help_of_the_driver_is_that_of_its_source(checkout: Path):
    built = RUN.parent / "build" / "host" / "bin" / "warpheap_bench_host"
    if not built.is_file():
        pytest.skip("the host driver is not built")
    said = subprocess.run([checkout / "run", "bench", "--help"], capture_output=True, text=True, timeout=60).stdout
    true = subprocess.run([built, "--help"], capture_output=True, text=True, timeout=60).stdout
    # Cases are in the order of their files where nothing is built.
    assert sorted(said.splitlines()) == sorted(true.splitlines())


@pytest.fixture
def archive(checkout: Path) -> Path:
    """A program `apt-get` that downloads two packages of three files each; returns the folder that notes its calls."""
    folder = checkout.parent / "archive"
    folder.mkdir()
    for package, wanted in (
        ("python3-graph-tool", "usr/lib/python3/dist-packages/graph_tool/collection/karate.gt.gz"),
        ("libmetis-doc", "usr/share/doc/libmetis-dev/examples/graphs/4elt.graph"),
    ):
        tree = folder / package
        for name in (wanted, "usr/lib/other.so", "DEBIAN/control"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(
                f"Package: {package}\nVersion: 1\nArchitecture: all\nMaintainer: nobody <a@b>\nDescription: a test\n"
            )
        subprocess.run(["dpkg-deb", "--build", tree, folder / f"{package}_1_all.deb"], check=True, capture_output=True)
    program = checkout.parent / "tools/apt-get"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = download ] || exit 1\necho "$2" >> {folder}/calls\n'
        f'[ ! -e {folder}/offline ] || {{ echo "E: no network" >&2; exit 100; }}\n'
        f"cp {folder}/$2_1_all.deb .\n"
    )
    return folder


needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not here: no Debian packages")


@needs_dpkg
def test_graph_data_is_fetched_once(checkout: Path, archive: Path):
    for _ in range(2):
        done = started(checkout, ("graph", "--fetch-data"))
        assert done.returncode == 0, done.stderr
        assert "build/data" in done.stdout
    data = checkout / "build/data"
    assert sorted(path.name for path in data.rglob("*") if path.is_file()) == ["4elt.graph", "karate.gt.gz"]
    assert (archive / "calls").read_text().split() == ["python3-graph-tool", "libmetis-doc"]


@needs_dpkg
def test_graph_data_says_that_the_archive_cannot_be_reached(checkout: Path, archive: Path):
    (archive / "offline").touch()
    done = started(checkout, ("graph", "--fetch-data"))
    assert done.returncode == 2
    assert "python3-graph-tool" in done.stderr
    assert "E: no network" in done.stderr
    assert not any((checkout / "build/data").iterdir())
    (archive / "offline").unlink()
    assert started(checkout, ("graph", "--fetch-data")).returncode == 0


def test_graph_data_needs_a_package_manager(bare_path):
    shown = run("graph", "--fetch-data", path=bare_path)
    assert shown.returncode == 2
    assert "apt-get" in shown.stderr
    assert "WARPHEAP_GRAPH_DATA" in shown.stderr
