# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command line: `warpheap --help`."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from warpheap import __version__, commands
from warpheap.errors import UsageError, unknown_name
from warpheap.plan import Wishes

# A log has no width of its own; tables need about this much.
_LOG_WIDTH = 120

app = typer.Typer(
    name="warpheap",
    help="Measures GPU memory allocators against each other, checks every block they hand out, and reports.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Out = Annotated[Path | None, typer.Option(help="Folder for the record and the report (out/survey/<backend>).")]


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"warpheap {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command("survey")
def survey(
    allocators: Annotated[str | None, typer.Option(help="Names, separated by commas (all).")] = None,
    cases: Annotated[str | None, typer.Option(help="Names of cases, separated by commas (all).")] = None,
    modes: Annotated[str | None, typer.Option(help="thread, warp, mixed (all).")] = None,
    threads: Annotated[str | None, typer.Option(help="Numbers of threads, such as 10k,1M.")] = None,
    sizes: Annotated[str | None, typer.Option(help="Bytes of a block, such as 16,4KiB.")] = None,
    heap: Annotated[str | None, typer.Option(help="Bytes of heap, such as 8GiB.")] = None,
    iterations: Annotated[int | None, typer.Option(help="Timed rounds of a case.", min=1)] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for one case of one allocator.", min=0.1)] = None,
    preset: Annotated[
        str, typer.Option(help="What the options above start from: quick, default or paper.")
    ] = "default",
    out: _Out = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew instead of going on with the record.")] = False,
    driver: Annotated[Path | None, typer.Option(help="The benchmark driver (the one built in the checkout).")] = None,
    backend: Annotated[str, typer.Option(help="auto, host or cuda.")] = "auto",
) -> None:
    """Measure allocators, check every block, and write a report.

    Each case runs in a process of its own; a hang or a crash is a result. Interrupted, the same command goes on where
    it was.
    """
    _check_backend(backend)
    wishes = Wishes(preset, cases, allocators, modes, threads, sizes, heap, iterations, time_limit)
    raise typer.Exit(commands.run_survey(_console(), wishes, out, driver, backend, fresh, _own_command()))


@app.command("report")
def report(
    record: Annotated[Path, typer.Argument(help="A record: survey.jsonl.")],
    out: Annotated[Path | None, typer.Option(help="The page to write (report.html beside the record).")] = None,
) -> None:
    """Write the report of a record."""
    commands.make_report(_console(), record, out)


@app.command("plot")
def plot(
    record: Annotated[Path, typer.Argument(help="A record of a GPU: survey.jsonl.")],
    out: Annotated[Path, typer.Option(help="The picture to write; .png, .svg or .pdf.")],
    case: Annotated[str, typer.Option(help="The case to show.")] = "throughput",
    mode: Annotated[str, typer.Option(help="thread, warp or mixed.")] = "thread",
    against: Annotated[str, typer.Option(help="The x axis: size or threads.")] = "size",
) -> None:
    """Write one figure of the report as a picture."""
    commands.make_plot(_console(), record, out, case, mode, against)


@app.command("gpu")
def gpu(
    out: Annotated[Path, typer.Option(help="Folder for the results: eight files at most.")],
    prebuilt: Annotated[
        Path | None, typer.Option(help="Run the programs in this folder's bin/; build nothing.")
    ] = None,
    only: Annotated[str | None, typer.Option(help="tests, memcheck or bench, separated by commas (all).")] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for one test program.", min=1)] = 300,
    budget: Annotated[
        float, typer.Option(help="Seconds for all; what does not fit is recorded as skipped.", min=1)
    ] = 3600,
    preset: Annotated[str, typer.Option(help="The survey's preset: quick, default or paper.")] = "default",
    test_filter: Annotated[str, typer.Option("--filter", help="Which tests to run, as GoogleTest's filter.")] = "*",
) -> None:
    """Build, test, check and measure on a machine with a GPU and no network.

    A test that hangs or crashes is recorded as that, and the rest goes on. Exit code 1: something failed.
    """
    from warpheap.gpu.run import Job, run_gpu

    raise typer.Exit(run_gpu(_console(), Job(out, prebuilt, only, time_limit, budget, preset, test_filter)))


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else _LOG_WIDTH)


def _check_backend(name: str) -> None:
    if name not in ("auto", "host", "cuda"):
        raise unknown_name("--backend", name, ("auto", "host", "cuda"))


def _own_command() -> str:
    # `./run` is how a checkout starts us; the words after the program's name are the same.
    return shlex.join(["./run", *sys.argv[1:]])


def main() -> None:
    """Entry point: errors that the user can mend are one line and exit code 2."""
    try:
        app()
    except UsageError as problem:
        Console(stderr=True).print(f"[red]warpheap:[/] {problem}", highlight=False, soft_wrap=True)
        sys.exit(2)
