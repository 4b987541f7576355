# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Records as nobody would write them: each verb reads them, or tells in one line why it does not and writes nothing."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Finished
from records import measure, record, single

from warpheap.errors import UsageError
from warpheap.record import Record, read_records

Command = Callable[..., Finished]

# As text, since Python writes some of them differently or not at all.
NASTY = (
    "null", "true", "[]", "{}", '""', "0", "-1", "1.5", "1e400", "-1e400", "NaN", "Infinity", "1e-320", "1e300",
    str(2**64 - 1), str(2**64), "9" * 5001, "1" + "0" * 400, '"\\ud800"', '"\\ud83d\\ude00"', '"\\u0000"', '"a\\nb"',
    '"$\\\\frac{ $"', '"[/old]"', '"../../x"', '"_hidden"', '"<b>&"', '"' + "n" * 400 + '"', '"\u65e5\u672c"',
    "[" * 100_000 + "]" * 100_000, '{"median": 1}', '[{"a": [1]}]', '"1"', "1e30", "1e-30",
)  # fmt: skip


def sound() -> list[Record]:
    """Records of several cases and allocators, so that every part of a report has something to show."""
    made = []
    for place, name in enumerate(("bump", "warp_slab", "cuda_malloc")):
        for size in (16, 64):
            own = {"allocator": name, "position": place, "size": size}
            made.append(record(**own, series={"malloc": {"unit": "us", "values": [1, 2, 3]}}))
            shares = {"share": single(0.5, better="higher"), "total": measure(9), "last_tenth": measure(2)}
            made.append(record(case="out_of_memory", measures=shares, **own))
            made.append(record(case="exhaustion", measures={"rate": measure(5, unit="ops/s", better="higher")}, **own))
        made.append(record(case="latency", allocator=name, position=place, status="timeout"))
    return made


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all values in a value of JSON."""
    yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield from places(member, (*path, key))


def with_text(value: Any, path: tuple[Any, ...], text: str) -> str:
    """The JSON of `value` with `text` at that path."""
    if not path:
        return text
    changed = copy.deepcopy(value)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = "@@nasty@@"
    return json.dumps(changed).replace('"@@nasty@@"', text)


def without(value: Any, path: tuple[Any, ...]) -> str:
    """The JSON of `value` without what is at that path."""
    changed = copy.deepcopy(value)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return json.dumps(changed)


def mutants(seed: int, count: int) -> Iterator[str]:
    """Files of a record, each with some faults or oddities."""
    chance = random.Random(seed)
    records = sound()
    for _ in range(count):
        lines = [json.dumps(each) for each in records]
        for _ in range(chance.choice((1, 1, 2))):
            at = chance.randrange(len(lines))
            path = chance.choice(list(places(records[at])))
            kind = chance.random()
            if kind < 0.75:
                lines[at] = with_text(records[at], path, chance.choice(NASTY))
            elif kind < 0.9 and path:
                lines[at] = without(records[at], path)
            else:
                cut = chance.randrange(len(lines[at]))
                lines[at] = (
                    lines[at][:cut] + chance.choice(("", "}", "[", '"', "\\", "\x00", "\u2028")) + lines[at][cut + 1 :]
                )
        yield "\n".join(lines) + "\n"


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def commands(source: Path, out: Path) -> list[tuple[Any, ...]]:
    return [
        ("report", source, "--out", out / "report.html"),
        ("plot", source, "--out", out / "plot.png"),
        ("compare", source, "--allocators", "bump,warp_slab"),
        ("merge", out / "all.jsonl", source),
        ("export", source, "--out", out / "csv"),
    ]


@pytest.mark.parametrize("seed", range(4))
def test_no_record_ends_a_verb_in_a_traceback(warpheap: Command, tmp_path: Path, seed: int) -> None:
    source = tmp_path / "in" / "survey.jsonl"
    source.parent.mkdir()
    refused = 0
    for number, text in enumerate(mutants(seed, 20)):
        source.write_text(text, encoding="utf-8", newline="\n")
        out = tmp_path / f"out-{number}"
        out.mkdir()
        for words in commands(source, out):
            before = files_in(tmp_path)
            done = warpheap(*words)  # anything but an orderly end is an exception here
            assert done.code in ((0, 1, 2) if words[0] == "compare" else (0, 2)), (words, text)
            if done.code == 2:
                refused += 1
                assert done.err.startswith("warpheap: "), text
                assert done.err.count("\n") == 1, text
                assert files_in(tmp_path) == before, (words, text)
    assert refused > 0


@pytest.mark.parametrize("text", ["$\\frac{ $", "[/old]", "../../x", "_hidden", "<b>&", "\u65e5\u672c", "n" * 300])
def test_names_of_any_kind_are_drawn(warpheap: Command, tmp_path: Path, text: str) -> None:
    source = tmp_path / "survey.jsonl"
    own = {"mode": text, "case": text, "device": text}
    made = [record(allocator=name, size=size, **own) for name in (text, "bump") for size in (16, 64)]
    source.write_text("".join(json.dumps(each) + "\n" for each in made))
    done = warpheap("report", source, "--figures", tmp_path / "figures")
    assert done.code == 0, done.err
    done = warpheap("plot", source, "--case", text, "--mode", text, "--out", tmp_path / "plot.svg")
    assert done.code == 0, done.err
    assert all(path.is_relative_to(tmp_path) for path in (tmp_path / "figures").iterdir())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"schema": 2, "threads": ' + "9" * 5001 + "}", "5,001 digits"),
        ('{"schema": 2, "threads": 1' + "0" * 400 + "}", "64 bits"),
        ('{"schema": 2, "mode": "\\ud800"}', "surrogate"),
        ('{"schema": 2, "seconds": 1e999}', "too large"),
        ('{"schema": 2, "seconds": NaN}', "NaN"),
    ],
    ids=("nesting", "digits", "count", "surrogate", "real", "nan"),
)
@pytest.mark.parametrize("ended", ["\n", ""], ids=("ended", "open"))
def test_what_json_allows_and_a_record_does_not_is_named_by_its_line(
    tmp_path: Path, text: str, told: str, ended: str
) -> None:
    path = tmp_path / "survey.jsonl"
    path.write_text(json.dumps(record()) + "\n" + text + ended)
    with pytest.raises(UsageError, match="line 2") as refusal:
        read_records(path)
    assert told in str(refusal.value)


@pytest.mark.parametrize("name", ["x.exe", "x", "x.jpg"])
def test_a_picture_of_no_known_kind_is_refused_before_anything_is_read(
    warpheap: Command, tmp_path: Path, name: str
) -> None:
    done = warpheap("plot", tmp_path / "missing.jsonl", "--out", tmp_path / name)
    assert done.code == 2
    assert ".png, .svg, .pdf" in done.err
    assert not list(tmp_path.iterdir())


def test_a_report_does_not_replace_its_record(warpheap: Command, tmp_path: Path) -> None:
    source = tmp_path / "survey.jsonl"
    text = json.dumps(record()) + "\n"
    source.write_text(text)
    done = warpheap("report", source, "--out", source)
    assert done.code == 2
    assert "the record itself" in done.err
    assert source.read_text() == text


def test_names_in_a_record_lead_out_of_no_folder_of_csv_files(warpheap: Command, tmp_path: Path) -> None:
    source = tmp_path / "survey.jsonl"
    made = [record(allocator="/../../x"), record(allocator="/../..-x")]
    source.write_text("".join(json.dumps(each) + "\n" for each in made))
    done = warpheap("export", source, "--out", tmp_path / "deep" / "csv")
    assert done.code == 0, done.err
    assert files_in(tmp_path) - {"survey.jsonl", "deep", "deep/csv"} == {
        f"deep/csv/{path.name}" for path in (tmp_path / "deep" / "csv").iterdir()
    }
    # Names that become alike still have a file each.
    assert len(list((tmp_path / "deep" / "csv").glob("perf_alloc_*"))) == 2


def test_a_name_that_is_too_long_for_a_file_is_one_line(warpheap: Command, tmp_path: Path) -> None:
    done = warpheap("merge", tmp_path / "out.jsonl", tmp_path / ("n" * 300))
    assert done.code == 2
    assert done.err.startswith("warpheap: ")
    assert done.err.count("\n") == 1
