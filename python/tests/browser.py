# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Opens a page in headless Chromium, in frames of several widths, and asks it how it looks."""

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_PROBE = Path(__file__).parent / "report_probe.js"


@dataclass(frozen=True)
class Seen:
    """What the browser found: an object for each width, and what it wrote to its console."""

    frames: dict[int, dict[str, Any]]
    console: list[str]


def find_chromium() -> str | None:
    """The browser of the distribution."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def look_at(browser: str, page: Path, widths: tuple[int, ...], folder: Path) -> Seen:
    """Loads `page` in a frame of each width. The frame counts as a window to the page's style and script."""
    source = html.escape(page.read_text(encoding="utf-8"), quote=True)
    frames = "".join(f'<iframe width="{width}" height="900" srcdoc="{source}"></iframe>' for width in widths)
    probe = folder / "probe.html"
    script = _PROBE.read_text(encoding="utf-8")
    probe.write_text(
        f'<!doctype html><meta charset="utf-8"><body>{frames}<pre id="seen"></pre><script>{script}</script></body>',
        encoding="utf-8",
    )
    done = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            f"--user-data-dir={folder / 'profile'}", "--window-size=1600,1000", "--enable-logging=stderr",
            "--virtual-time-budget=20000", "--dump-dom", probe.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found and found[1], f"the probe did not report; exit code {done.returncode}: {done.stderr[-2000:]}"
    frames_seen = {int(frame["width"]): frame for frame in json.loads(html.unescape(found[1]))}
    return Seen(frames_seen, [line for line in done.stderr.splitlines() if "CONSOLE" in line])
