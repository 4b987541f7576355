# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the commands do, once the command line is read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from warpheap import builds, project, summary, survey, terminal, workers
from warpheap.again import commands_for
from warpheap.cases import CASES
from warpheap.devices import device_names, find_driver, find_drivers
from warpheap.driver import Driver
from warpheap.errors import INTERRUPTED, UsageError, unknown_name
from warpheap.files import write_text
from warpheap.folders import held
from warpheap.forecast import Forecast
from warpheap.machines import read_machines
from warpheap.plan import Catalogue, Plan, Step, Wishes, check_wishes, make_plan, runner_of
from warpheap.record import Record, RecordFile, read_records, record_at
from warpheap.runner import Runner
from warpheap.shared_process import SharedProcesses
from warpheap.units import show_seconds
from warpheap.words import where_to_report

# What `plot` can write, by the ending of the file.
PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Place:
    """Where a survey measures, and where its results go."""

    out: Path | None = None
    driver: Path | None = None
    backend: str = "auto"
    device: str | None = None
    fresh: bool = False
    devices: str | None = None
    share_process: bool = False
    retry: bool = False


def check_survey(wishes: Wishes, place: Place) -> None:
    """Raises `UsageError` for what can be told to be wrong before there is a driver to ask."""
    if place.retry and place.fresh:
        raise UsageError("--retry keeps what is ok and --fresh keeps nothing: leave one of them away")
    if place.devices is not None:
        if place.device is not None:
            raise UsageError("--devices: leave --device away, or name that GPU alone")
        if place.backend == "host":
            raise UsageError("--devices: only the cuda backend has devices to choose from; leave it away")
        device_names(place.devices)
    if place.driver is None and project.find_installed() is None:
        _check_gpu(place)
    traces = project.shipped_traces()
    if place.driver is not None or traces is None:
        return  # the driver knows what it can measure
    modes = {name: list(case.modes) or traces for name, case in CASES.items()}
    problems = []
    for backend in _backends(place):
        try:
            check_wishes(wishes, Catalogue(backend, project.registered_designs(backend) or [], modes))
        except UsageError as problem:
            problems.append(problem)
        else:
            return
    raise problems[0]


def _check_gpu(place: Place) -> None:
    """Raises `UsageError` if a GPU is asked for by name and the checkout can have no driver for one."""
    asked = {"--devices": place.devices, "--device": place.device, "--backend": place.backend == "cuda" or None}
    options = [option for option, value in asked.items() if value is not None]
    if not options or _can_use_gpu():
        return
    lacks = "nvidia-smi names no GPU" if not builds.gpu_architectures() else "no nvcc is on the PATH"
    raise UsageError(f"{options[0]}: {lacks} here, so there is no driver for a GPU; name one with --driver PATH")


def _can_use_gpu() -> bool:
    return project.find_built_driver("cuda") is not None or builds.prefers_gpu()


def _backends(place: Place) -> tuple[str, ...]:
    """The backends that the driver can be of."""
    if place.backend != "auto":
        return (place.backend,)
    if place.devices is not None or place.device is not None:
        return ("cuda",)
    return ("cuda", "host") if _can_use_gpu() else ("host",)


def run_survey(console: Console, wishes: Wishes, place: Place, again: str) -> int:
    """The command `survey`: measures what is missing, then the tables, then the report. Returns the exit code."""
    drivers = {} if place.devices is None else find_drivers(place.driver, place.backend, place.devices)
    driver = next(iter(drivers.values()), None) or find_driver(place.driver, place.backend, place.device)
    plan = make_plan(wishes, driver)
    processes = SharedProcesses()
    share = processes.replace if place.share_process else dict[str, Runner]
    crew = [workers.Worker(gpu, share(_runners(plan, each))) for gpu, each in drivers.items()]
    plan = replace(plan, runners=share(plan.runners))
    folder = place.out or Path("out") / "survey" / driver.backend
    with held(folder):
        file, others = survey.open_record(folder, driver, place.fresh)
        retried = survey.set_failures_aside(plan.steps, file, driver) if place.retry else 0
        todo = survey.still_to_run(plan.steps, file, driver)
        where = f", GPUs {', '.join(drivers)}" if drivers else ""
        what = f"{where}, {driver.backend} backend: {', '.join(_allocators(plan.steps))}"
        console.print(Text.assemble((driver.device, "bold"), what))
        if retried:
            aside = file.path.with_name(survey.RETRIED_NAME)
            text = f"{retried} records that are not ok were moved to {aside}; their cases run again"
            console.print(text, markup=False, highlight=False, soft_wrap=True)
        _tell_what_is_known(console, plan, file, len(todo), others)
        try:
            with processes:
                if crew:
                    measure_side_by_side(console, crew, todo, file)
                else:
                    measure(console, plan, todo, file)
        except KeyboardInterrupt:
            done = len(plan.steps) - len(survey.still_to_run(plan.steps, file, driver))
            kept = f"{done} of {len(plan.steps)} cases are in {file.path}"
            console.print(f"\nInterrupted: {kept}. The same command goes on from there:", markup=False)
            # What was begun anew, or is to run again, is missing in the record by now.
            going_on = again.replace(" --fresh", "").replace(" --retry", "")
            console.print(f"  {going_on}", markup=False, highlight=False, soft_wrap=True)
            return INTERRUPTED
        records = survey.of_plan(plan.steps, file, driver)
        names = _allocators(plan.steps)
        # What cannot run here another machine may have measured.
        records += [each for each in file if each["case"] in plan.left_out and each["allocator"] in names]
        summary.print_summary(console, records)
        report = folder / survey.REPORT_NAME
        try:
            write_page(report, records, again, folder)
        except ImportError as problem:
            told = where_to_report(file.path, problem, "report", folder)
            console.print(told, markup=False, highlight=False, soft_wrap=True)
            return 0
        console.print(f"Report: {report}", markup=False, highlight=False, soft_wrap=True)
        return 0


def _tell_what_is_known(console: Console, plan: Plan, file: RecordFile, left: int, others: int) -> None:
    """Tell the user what the plan leaves out, what was moved aside, and how much of the plan is measured already."""
    for case, reason in plan.left_out.items():
        console.print(Text(f"{case} is left out: {reason}", style="dim"), highlight=False, soft_wrap=True)
    if others:
        aside = file.path.with_name(survey.OTHERS_NAME)
        console.print(f"{others} records of other sources or devices were moved to {aside}", markup=False)
    count = len(plan.steps)
    if left < count:
        console.print(f"{count - left} of {count} cases are in {file.path} already; --fresh begins anew", markup=False)


def measure(console: Console, plan: Plan, todo: Sequence[Step], file: RecordFile, deadline: float | None = None) -> int:
    """Runs what is still to do of `plan` under a progress bar; returns how many were run before `deadline`."""
    if not todo:
        return 0
    forecast = Forecast(todo, file)
    about = f", about {show_seconds(forecast.seconds_left())}" if len(file) else ""
    console.print(f"{len(todo):,} runs{about}", highlight=False)
    with terminal.watch(console, todo, forecast) as progress:
        return survey.run(todo, plan.runners, file, progress, deadline)


def measure_side_by_side(
    console: Console, crew: Sequence[workers.Worker], todo: Sequence[Step], file: RecordFile
) -> None:
    """Runs what is still to do with all workers under a progress bar."""
    if not todo:
        return
    forecast = Forecast(todo, file, side_by_side=min(len(crew), len(workers.points_of(todo))))
    about = f", about {show_seconds(forecast.seconds_left())}" if len(file) else ""
    console.print(f"{len(todo):,} runs on {len(crew)} GPU{'s' if len(crew) > 1 else ''}{about}", highlight=False)
    with terminal.watch(console, todo, forecast) as progress:
        workers.run(todo, crew, file, progress, forecast.seconds_of)


def _runners(plan: Plan, driver: Driver) -> dict[str, Runner]:
    """What measures each case of the plan with that driver."""
    return {name: runner_of(CASES[name], driver) for name in plan.runners}


def _allocators(steps: Sequence[Step]) -> list[str]:
    return list(dict.fromkeys(step.point.allocator for step in steps))


def write_page(path: Path, records: Sequence[Record], command: str, folder: Path) -> None:
    """Writes the report; plotting is loaded only now, since it takes longer to load than a case to run.

    `folder` is where the record lies, what is known of its machines, and perhaps what the command `sync` left.
    Raises ImportError where matplotlib or jinja2 is missing.
    """
    from warpheap.report.page import write_report
    from warpheap.sync.chapter import sections_beside

    try:
        write_report(path, records, command, sections_beside(folder), read_machines(folder))
    except OSError as problem:
        raise UsageError(f"{path} cannot be written: {problem.strerror}") from problem


def make_report(console: Console, source: Path, out: Path | None, figures: Path | None) -> None:
    """The command `report`."""
    source = record_at(source)
    records = _records(source)
    path = out or source.with_name("report.html")
    _refuse_source(path, source)
    try:
        write_page(path, records, commands_for(records, read_machines(source.parent)), source.parent)
    except ImportError as problem:
        raise UsageError(f"a report needs {problem.name}, which is missing here: install it") from None
    console.print(f"Report: {path}", markup=False, highlight=False, soft_wrap=True)
    if figures is not None:
        from warpheap.report.files import write_figures

        try:
            count = len(write_figures(figures, records))
        except OSError as problem:
            raise UsageError(f"--figures: {figures} cannot be written: {problem.strerror}") from problem
        console.print(f"Figures: {figures}, {count} files", markup=False, highlight=False, soft_wrap=True)


def write_paper_text(console: Console, source: Path, out: Path | None) -> None:
    """The command `paper`: the record beside the survey paper, into a file or to the terminal."""
    from warpheap.report.paper_text import markdown_of

    source = record_at(source)
    text = markdown_of(_records(source))
    if out is None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        return
    _refuse_source(out, source)
    try:
        write_text(out, text + "\n")
    except OSError as problem:
        raise UsageError(f"--out: {out} cannot be written: {problem.strerror}") from problem
    console.print(f"Text: {out}", markup=False, highlight=False, soft_wrap=True)


def _refuse_source(out: Path, source: Path) -> None:
    if out.exists() and source.exists() and out.samefile(source):
        raise UsageError(f"--out: {out} is the record itself; name another file")


def make_plot(console: Console, source: Path, out: Path, case: str, mode: str, against: str) -> None:
    """The command `plot`: one figure of the report as a picture."""
    if out.suffix.lower() not in PICTURES:
        raise UsageError(f"--out: the name of a picture ends in {', '.join(PICTURES)}, not '{out.name}'")
    source = record_at(source)
    _refuse_source(out, source)
    everything = _records(source)
    cases = list(dict.fromkeys(record["case"] for record in everything))
    if case not in cases:
        raise unknown_name("--case", case, cases)
    records = [record for record in everything if record["case"] == case]
    modes = list(dict.fromkeys(record["mode"] for record in records))
    if mode not in modes:
        raise unknown_name("--mode", mode, modes)
    if not all(record["timing_comparable"] for record in records):
        raise UsageError(f"{source} has times of the host backend; they are not comparable and are not plotted")
    if against not in ("size", "threads"):
        raise unknown_name("--against", against, ("size", "threads"))
    from warpheap.report import generic, plots
    from warpheap.report.looks import Looks
    from warpheap.report.record_set import RecordSet

    shown = RecordSet(records).latest().where(mode=mode)
    names = list(dict.fromkeys(name for record in shown for name in record["measures"]))
    chart = generic.against(shown, names, against)
    if chart is None:
        raise UsageError(
            f"--against: {source} has no more than one {against} of {case} {mode}; there is no line to draw"
        )
    title = f"{case.replace('_', ' ')} on {shown[0]['device']}, mode {mode}"
    try:
        plots.to_png(plots.draw(chart, Looks(everything), title), out)
    except OSError as problem:
        raise UsageError(f"--out: {out} cannot be written: {problem.strerror}") from problem
    console.print(f"Picture: {out}", markup=False, highlight=False, soft_wrap=True)


def _records(source: Path) -> list[Record]:
    records = read_records(source)
    if not records:
        raise UsageError(f"{source} holds no records")
    return records
