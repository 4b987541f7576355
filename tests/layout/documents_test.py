# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""What the documents show is there: their links lead somewhere, and whole examples are ones that are built."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENTS = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
    broken = [link for link in LINK.findall(text) if not (document.parent / link).exists()]
    assert not broken


@pytest.mark.parametrize(
    ("document", "source", "mark"),
    [
        ("README.md", "first_heap.cu", "readme"),
        ("docs/guide.md", "checked_heap.cpp", "guide"),
        ("docs/guide.md", "device_pool.cpp", "guide"),
    ],
)
def test_example_is_the_one_that_is_built(document, source, mark):
    text = (REPOSITORY / "examples" / source).read_text(encoding="utf-8")
    example = text.split(f"// [{mark}]")[1].strip()
    shown = re.findall(r"```cpp\n(.*?)```", (REPOSITORY / document).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert any(block.strip().startswith(example) for block in shown)
