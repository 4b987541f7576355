# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the documents show is there: their links lead somewhere, and whole examples are ones that are built."""

import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")
NOT_OURS = ("build", "out", "site", "shared")


def documents() -> list[Path]:
    """The pages of the repository: those that git knows or would add; without git, those outside of made folders."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    try:
        listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
        found = {REPOSITORY / line for line in listed.splitlines()}
    except (OSError, subprocess.CalledProcessError):
        found = set(REPOSITORY.rglob("*.md"))
        found -= {path for name in NOT_OURS for path in (REPOSITORY / name).rglob("*.md")}
    return sorted(path for path in found if path.is_file())


def broken_links(document: Path) -> list[str]:
    """Relative links, of pictures too, that lead to no file."""
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [link for link in LINK.findall(text) if not (document.parent / link).exists()]


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_links_lead_somewhere(document):
    assert not broken_links(document)


def test_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "there.md").write_text("# There\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](there.md) [b](there.md#part) [c](https://example.org/none) ![d](none.png) [e](deep/none.md#part)\n"
        "```\n[f](none.md)\n```\n"
    )
    assert broken_links(page) == ["none.png", "deep/none.md"]


def test_pages_everywhere_are_looked_at():
    names = {str(path.relative_to(REPOSITORY)) for path in documents()}
    assert {"README.md", "CONTRIBUTING.md", "docs/guide.md", "results/README.md"} <= names
    assert any(name.startswith("results/essays/") for name in names)


def test_page_of_results_fits_on_a_screen():
    lines = (REPOSITORY / "results/README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    ("document", "source", "mark"),
    [
        ("README.md", "first_heap.cu", "readme"),
        ("docs/guide.md", "checked_heap.cpp", "guide"),
        ("docs/guide.md", "device_pool.cpp", "guide"),
        ("docs/guide.md", "dynamic_graph.cpp", "guide"),
    ],
)
def test_example_is_the_one_that_is_built(document, source, mark):
    text = (REPOSITORY / "examples" / source).read_text(encoding="utf-8")
    example = text.split(f"// [{mark}]")[1].strip()
    shown = re.findall(r"```cpp\n(.*?)```", (REPOSITORY / document).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert any(block.strip().startswith(example) for block in shown)
