# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The command line: `warpheap --help`."""

import io
import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.text import Text

from warpheap import __version__, commands, project
from warpheap.dynamic_graphs.run import Job as GraphJob
from warpheap.errors import UsageError, unknown_name
from warpheap.guard import signals_interrupt
from warpheap.interposer.run import Job as RunJob
from warpheap.plan import Wishes
from warpheap.pool.run import Job as PoolJob
from warpheap.sync.run import Job as SyncJob
from warpheap.units import parse_bytes
from warpheap.watch import Job as WatchJob
from warpheap.words import one_line, quoted

# A log has no width of its own; tables need about this much.
_LOG_WIDTH = 120

app = typer.Typer(
    name="warpheap",
    help="Measures GPU memory allocators against each other, checks every block they hand out, and reports.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Out = Annotated[Path | None, typer.Option(help="Folder for the record and the report (out/survey/BACKEND).")]


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"warpheap {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only tell what is wrong with the words of the command.", hidden=True)
    ] = False,
) -> None:
    context.obj = check


def _end_if_checking(context: typer.Context) -> None:
    """Ends a command whose words were only to be checked: `./run` asks for that before it builds anything."""
    if context.obj:
        raise typer.Exit


@app.command("survey")
def survey(
    context: typer.Context,
    allocators: Annotated[str | None, typer.Option(help="Names, separated by commas (all).")] = None,
    cases: Annotated[str | None, typer.Option(help="Names of cases, separated by commas (all).")] = None,
    modes: Annotated[str | None, typer.Option(help="Names of the cases' modes, such as thread,mixed (all).")] = None,
    threads: Annotated[
        str | None, typer.Option(help="Numbers of threads: 10k,1M or 1..1M, each twice the last.")
    ] = None,
    sizes: Annotated[str | None, typer.Option(help="Bytes of a block: 16,4KiB or 4..8KiB or 4..8KiB+4.")] = None,
    heap: Annotated[str | None, typer.Option(help="Bytes of heap: 8GiB or 1GiB,8GiB.")] = None,
    iterations: Annotated[int | None, typer.Option(help="Timed rounds of a case at least.", min=1)] = None,
    most_iterations: Annotated[
        int | None, typer.Option(help="Timed rounds at most, while a median is not known to --precision.", min=1)
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(help="How well to know medians: share of the median its interval may reach (0.02).", min=1e-6),
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for one case of one allocator.", min=0.1)] = None,
    preset: Annotated[
        str, typer.Option(help="What the options above start from: quick, default, paper or full.")
    ] = "default",
    out: _Out = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew instead of going on with the record.")] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Run again what crashed, failed or ran out of time; keep all that is ok.")
    ] = False,
    driver: Annotated[Path | None, typer.Option(help="The benchmark driver (the one built in the checkout).")] = None,
    backend: Annotated[str, typer.Option(help="auto, host or cuda.")] = "auto",
    device: Annotated[str | None, typer.Option(help="The GPU, as nvidia-smi numbers or names it (the first).")] = None,
    devices: Annotated[
        str | None, typer.Option(help="Several GPUs of one kind, which share the work: all, or 0,1,2.")
    ] = None,
    share_process: Annotated[
        bool, typer.Option("--share-process", help="Run case after case in one process, where a case allows it.")
    ] = False,
) -> None:
    """Measure allocators, check every block, and write a report.

    Each case runs in a process of its own; a hang or a crash is a result. Interrupted, the same command goes on where
    it was. With --share-process a process serves many cases, and ends with the first that is not ok, which is then run
    once more by itself.

    A case is timed for --iterations rounds, then until the 95 % confidence interval of each median lies within
    --precision of it, for --most-iterations rounds or half the time limit at most.
    """
    _check_backend(backend)
    wishes = Wishes(
        preset, cases, allocators, modes, threads, sizes, heap, iterations, most_iterations, precision, time_limit
    )
    place = commands.Place(out, driver, backend, device, fresh, devices, share_process, retry)
    commands.check_survey(wishes, place)
    _end_if_checking(context)
    raise typer.Exit(commands.run_survey(_console(), wishes, place, _own_command()))


@app.command("report")
def report(
    record: Annotated[Path, typer.Argument(help="A record, or a folder with a survey.jsonl.")],
    out: Annotated[Path | None, typer.Option(help="The page to write (report.html beside the record).")] = None,
    figures: Annotated[Path | None, typer.Option(help="A folder for each figure as PNG and SVG (none).")] = None,
) -> None:
    """Write the report of a record."""
    commands.make_report(_console(), record, out, figures)


@app.command("plot")
def plot(
    record: Annotated[Path, typer.Argument(help="A record of a GPU, or a folder with a survey.jsonl.")],
    out: Annotated[Path, typer.Option(help="The picture to write; .png, .svg or .pdf.")],
    case: Annotated[str, typer.Option(help="The case to show.")] = "throughput",
    mode: Annotated[str, typer.Option(help="One of the case's modes.")] = "thread",
    against: Annotated[str, typer.Option(help="The x axis: size or threads.")] = "size",
) -> None:
    """Write one figure of the report as a picture."""
    commands.make_plot(_console(), record, out, case, mode, against)


@app.command("paper")
def paper(
    record: Annotated[Path, typer.Argument(help="A record, or a folder with a survey.jsonl.")],
    out: Annotated[Path | None, typer.Option(help="The Markdown file to write (the terminal).")] = None,
) -> None:
    """Put a record beside the survey paper (Winter et al., PPoPP 2021): conclusions and figures, as Markdown."""
    commands.write_paper_text(_console(), record, out)


@app.command("compare")
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A record, or one allocator of it: FILE or FILE:ALLOCATOR.")],
    b: Annotated[str | None, typer.Argument(metavar="B", help="What to compare with A; it is judged.")] = None,
    allocators: Annotated[
        str | None, typer.Option(help="Only these; without B, the two of A to compare: ONE,TWO.")
    ] = None,
    threshold: Annotated[float, typer.Option(help="The least difference that counts, as a share.", min=0)] = 0.05,
    changes: Annotated[bool, typer.Option("--changes", help="Leave out what is SAME or UNDECIDED.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Compare even what different devices measured.")] = False,
) -> None:
    """Tell where B is FASTER, SLOWER or the SAME as A, point by point.

    The rule, for medians with 95 % confidence intervals: FASTER or SLOWER if the intervals do not overlap and the
    medians differ by more than the threshold. SAME if they differ by no more than it wherever in their intervals they
    lie. UNDECIDED otherwise, and for fewer than 6 samples. What does not depend on the machine's speed (shares of the
    heap, address ranges, registers) is BETTER, WORSE or SAME.

    Ratios are B over A; rates are inverted, so that above 1 B is worse. Times of the host backend are left out.

    Exit code 1: B is SLOWER or WORSE somewhere, or not ok where A is (BROKEN).
    """
    from warpheap.compare.show import Options, run_compare

    raise typer.Exit(run_compare(_console(), Options(a, b, allocators, threshold, changes, force)))


@app.command("merge")
def merge(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The record to write.")],
    records: Annotated[list[Path], typer.Argument(metavar="IN...", help="Records, or folders with a survey.jsonl.")],
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it is there.")] = False,
) -> None:
    """Put the records of several machines into one; its report shows them all.

    Of records of the same case on the same device the newest is kept.
    """
    from warpheap.merge import run_merge

    run_merge(_console(), out, records, force)


@app.command("export")
def export(
    record: Annotated[Path, typer.Argument(help="A record, or a folder with a survey.jsonl.")],
    out: Annotated[Path, typer.Option(help="The folder to write into.")],
) -> None:
    """Write a record as CSV files.

    Cases of the original suite (GPUMemManSurvey) get its file names and columns, times in milliseconds. measures.csv
    has everything that was measured, failures.csv what has no result.
    """
    from warpheap.export.run import run_export

    run_export(_console(), record, out)


@app.command("gpu")
def gpu(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for the record: eight files at most.")],
    prebuilt: Annotated[
        Path | None, typer.Option(help="Run the programs in this folder's bin/; build nothing.")
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(help="tests, memcheck, bench, sync, pool, separated by commas (tests,memcheck,bench)."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Test programs side by side; at most the number of processors.", min=1)] = 4,
    time_limit: Annotated[float, typer.Option(help="Seconds for one process of a test program.", min=1)] = 300,
    budget: Annotated[
        float, typer.Option(help="Seconds for all; tests that do not fit are recorded as missed.", min=1)
    ] = 3600,
    preset: Annotated[str, typer.Option(help="The survey's preset: quick, default, paper or full.")] = "default",
    test_filter: Annotated[str, typer.Option("--filter", help="Which tests to run, as GoogleTest's filter.")] = "*",
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep what ended in --out's run of this state; run the other programs.")
    ] = False,
) -> None:
    """Build, test, check and measure on a machine with a GPU and no network.

    A test that hangs or crashes is recorded as that, and the rest goes on. All parts of a folder are of one state of
    the sources. Exit code 1: something failed, or had no turn.
    """
    from warpheap.gpu.job import Job
    from warpheap.gpu.run import run_gpu
    from warpheap.gpu_measures import MEASURES

    job = Job(out, prebuilt, only, time_limit, budget, preset, test_filter, jobs, resume)
    job.check()
    _end_if_checking(context)
    raise typer.Exit(run_gpu(_console(), job, MEASURES, _own_command()))


@app.command("pool")
def pool(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for pool.jsonl, pool.html and figures/.")],
    prebuilt: Annotated[
        Path | None, typer.Option(help="Take warpheap_pool_bench_cuda from this folder or its bin/ (the checkout's).")
    ] = None,
    backend: Annotated[str, typer.Option(help="auto, cuda, or host, where no GPU's pools can be compared.")] = "auto",
    budget: Annotated[float, typer.Option(help="Seconds for all measurements.", min=10)] = PoolJob.budget,
    size: Annotated[str, typer.Option("--bytes", help="Bytes of memory that pools hand out.")] = "32GiB",
    repetitions: Annotated[
        int, typer.Option(help="Timed repetitions at most, as time allows.", min=1)
    ] = PoolJob.repetitions,
    cases: Annotated[
        str | None, typer.Option(help="sizes, fill, live, churn, streams, replay, recording, by commas (all).")
    ] = None,
    peers: Annotated[
        str | None, typer.Option(help="torch, cupy, rmm, python (calls that do nothing), by commas (all).")
    ] = None,
    python: Annotated[str | None, typer.Option(help="The Python that has PyTorch or CuPy (this one).")] = None,
    recording: Annotated[
        list[Path] | None,
        typer.Option(help="A trace of `warpheap run` to replay; may be given again (a generated one)."),
    ] = None,
    record: Annotated[bool, typer.Option("--record", help="Record a PyTorch and a CuPy program, and replay.")] = False,
    log: Annotated[Path | None, typer.Option(help="A log of logging_adaptor to replay (a made-up training).")] = None,
    measure: Annotated[bool, typer.Option(help="Measure, or only make the report of what is in --out.")] = True,
) -> None:
    """Measure the host-side pool against cudaMalloc, cudaMallocAsync and the pools of PyTorch and CuPy.

    Needs no network, and for measuring nothing beside the programs; where matplotlib and jinja2 are missing, the report
    is made elsewhere with --no-measure. Libraries that are not there are left out. Exit code 1: something failed.
    """
    from warpheap.pool.run import check, run_pool

    _check_backend(backend)
    job = PoolJob(
        out,
        prebuilt,
        backend,
        budget,
        parse_bytes(size, "--bytes"),
        repetitions,
        cases,
        peers,
        python,
        log,
        measure,
        recordings=recording or (),
        records=record,
    )
    check(job)
    _end_if_checking(context)
    raise typer.Exit(run_pool(_console(), job, _own_command()))


@app.command("sync")
def sync(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for sync.jsonl, sync.md, sync.html and figures/.")],
    prebuilt: Annotated[
        Path | None, typer.Option(help="Take warpheap_sync_bench_cuda from this folder or its bin/ (the checkout's).")
    ] = None,
    backend: Annotated[str, typer.Option(help="auto, cuda, or host, where times mean nothing.")] = "auto",
    budget: Annotated[float, typer.Option(help="Seconds for all measurements.", min=1)] = SyncJob.budget,
    cases: Annotated[str | None, typer.Option(help="semaphores, delegation, separated by commas (all).")] = None,
    measure: Annotated[bool, typer.Option(help="Measure, or only make the report of what is in --out.")] = True,
) -> None:
    """Measure bulk against counting semaphores, and read-copy-update with delegation against the classical one.

    Figures 5 and 6 of Gelado and Garland (PPoPP 2019). Needs no network; where matplotlib and jinja2 are missing, the
    report is made elsewhere with --no-measure. Points that do not fit the budget are recorded as skipped. Exit code 1:
    something failed.
    """
    from warpheap.sync.run import check, run_sync

    _check_backend(backend)
    job = SyncJob(out, prebuilt, backend, budget, cases, measure)
    check(job)
    _end_if_checking(context)
    raise typer.Exit(run_sync(_console(), job, _own_command()))


@app.command("graph")
def graph(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for graph.jsonl, graph.md, graph.html and figures/.")],
    prebuilt: Annotated[
        Path | None, typer.Option(help="Take warpheap_graph_bench_cuda from this folder or its bin/ (the checkout's).")
    ] = None,
    backend: Annotated[str, typer.Option(help="auto, cuda, or host, where times mean nothing.")] = "auto",
    preset: Annotated[str, typer.Option(help="What the options below start from: quick or paper.")] = GraphJob.preset,
    systems: Annotated[str | None, typer.Option(help="Names, separated by commas (the preset's).")] = None,
    graphs: Annotated[str | None, typer.Option(help="Generators or originals of stand-ins (the preset's).")] = None,
    cases: Annotated[
        str | None,
        typer.Option(help="init, update, pressure, delete, sliding, expansion, pagerank, triangles, rebuild (all)."),
    ] = None,
    vertices: Annotated[int | None, typer.Option(help="Vertices of each graph, about.", min=1000)] = None,
    batch: Annotated[int | None, typer.Option(help="Edges of a batch.", min=1)] = None,
    iterations: Annotated[int | None, typer.Option(help="Timed rounds of a case.", min=1)] = None,
    heap: Annotated[str | None, typer.Option(help="Bytes of heap: 16GiB.")] = None,
    time_limit: Annotated[
        float, typer.Option(help="Seconds for one system on one graph.", min=0.1)
    ] = GraphJob.time_limit,
    verify: Annotated[
        bool | None, typer.Option(help="Compare with a model on the host after each change (quick: yes, paper: no).")
    ] = None,
    measure: Annotated[bool, typer.Option(help="Measure, or only make the report of what is in --out.")] = True,
) -> None:
    """Measure dynamic graphs on each heap: faimGraph's, OuroGraph's and CudaAllocGraph's workloads, and more.

    Each system runs on each graph in a process of its own; a hang or a crash is a result. Needs no network; where
    matplotlib and jinja2 are missing, the report is made elsewhere with --no-measure. Exit code 1: something failed.
    `./run graph --fetch-data` gets real graphs instead.
    """
    from warpheap.dynamic_graphs.run import check, run_graph

    _check_backend(backend)
    heap_bytes = None if heap is None else parse_bytes(heap, "--heap")
    job = GraphJob(
        out, prebuilt, backend, preset, systems, graphs, cases, vertices, batch, iterations, heap_bytes, time_limit,
        verify, measure,
    )  # fmt: skip
    check(job)
    _end_if_checking(context)
    raise typer.Exit(run_graph(_console(), job, _own_command()))


# The program's own options are not read as ours.
@app.command("run", context_settings={"allow_interspersed_args": False})
def run(
    context: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="-- PROGRAM [ARGUMENT]...", help="What to run.")],
    mode: Annotated[str, typer.Option(help="count, check, trace or pool.")] = RunJob.mode,
    out: Annotated[Path | None, typer.Option(help="File for the report or the trace (reports: stderr).")] = None,
    audit: Annotated[bool, typer.Option("--audit", help="Come in by LD_AUDIT instead of LD_PRELOAD.")] = False,
) -> None:
    """Run a program and note what it asks CUDA's driver for memory; the program is not changed.

    count: how often each call was made, how many bytes, and what was live. check: writes past the end of blocks of
    cuMemAlloc, pointers that are no blocks or were freed before, and what is not freed at the end. trace: a line for
    each block, for `warpheap trace`. pool: blocks of cuMemAlloc and cuMemAllocAsync come from a pool of warpheap's. The
    report comes when the program ends; a signal that kills it leaves none. The exit code is the program's.
    """
    from warpheap.interposer.run import check, run

    job = RunJob(words, mode, out, audit)
    check(job)
    _end_if_checking(context)
    run(job)


@app.command("watch")
def watch(
    context: typer.Context,
    process: Annotated[int | None, typer.Argument(metavar="PID", help="The process (all of yours).")] = None,
    once: Annotated[bool, typer.Option("--once", help="Show one time, after one interval, and end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object on a line for each time.")] = False,
    interval: Annotated[float, typer.Option(help="Seconds between two looks.")] = WatchJob.interval,
) -> None:
    """Show what running programs have of memory, and how fast they take it and give it back.

    Programs under `warpheap run` and programs with a pool of warpheap's, PyTorch with `warpheap.torch.install()` among
    them, publish counters. Needs no GPU. Ctrl-C ends the view; so does the end of the process that is named.
    """
    from warpheap.watch import check, run

    job = WatchJob(process, once, as_json, interval)
    check(job)
    _end_if_checking(context)
    raise typer.Exit(run(_console(), job))


@app.command("trace")
def trace(
    file: Annotated[Path, typer.Argument(metavar="TRACE", help="What `warpheap run --mode trace` wrote.")],
    perfetto: Annotated[Path | None, typer.Option(help="A JSON file to write for Perfetto.")] = None,
    log: Annotated[Path | None, typer.Option(help="A log to write that `warpheap pool --log` replays.")] = None,
    process: Annotated[int | None, typer.Option(help="The process whose memory the log has (the only one).")] = None,
) -> None:
    """Write the trace of a program as a picture of time, or as a log that pools replay."""
    from warpheap.interposer.convert import convert

    convert(file, perfetto, log, process)


@app.command("snapshot")
def snapshot(
    file: Annotated[Path, typer.Argument(metavar="SNAPSHOT", help="JSON that a pool wrote of itself.")],
    page: Annotated[Path | None, typer.Option(help="An HTML file to write, which needs no other file.")] = None,
    pytorch: Annotated[Path | None, typer.Option(help="A pickle to write for PyTorch's memory viewer.")] = None,
) -> None:
    """Write what a pool's addresses hold as a page, or for PyTorch's memory viewer."""
    from warpheap.memory_map import write

    write(file, page, pytorch)


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else _LOG_WIDTH)


def _check_backend(name: str) -> None:
    if name not in ("auto", "host", "cuda"):
        raise unknown_name("--backend", name, ("auto", "host", "cuda"))


def _own_command() -> str:
    # `./run` is how a checkout starts us, and `warpheap` is what a wheel installs; the words after it are the same.
    return quoted(["./run" if project.find_installed() is None else "warpheap", *sys.argv[1:]])


def main() -> None:
    """Entry point: errors that the user can mend are one line and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        # Not every terminal and log can show every letter; that is no reason to end.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with signals_interrupt():
            # `./run` tells its name, so that help and messages name what the user can type again.
            app(prog_name=os.environ.get("WARPHEAP_STARTED_AS"))
    except UsageError as problem:
        _complain(str(problem))
    except OSError as problem:
        # A part that knows the option says more. This catches what no part foresaw, such as a name that is too long.
        _complain(f"{problem.filename}: {problem.strerror}" if problem.filename is not None else str(problem))


def _complain(text: str) -> NoReturn:
    # A text that is assembled is not read as markup: a path may hold brackets. What it names may hold anything.
    line = Text.assemble(("warpheap:", "red"), " ", one_line(text))
    Console(stderr=True).print(line, highlight=False, soft_wrap=True)
    sys.exit(2)
