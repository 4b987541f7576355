# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Speaks the language of the driver of `sync`: prints the records of a file that are of the case it is asked for."""

import json
import os
import sys
import time
from pathlib import Path


def main() -> int:
    """Prints them; the environment says whether it then fails or hangs."""
    case = sys.argv[sys.argv.index("--case") + 1]
    for line in Path(os.environ["FAKE_RECORDS"]).read_text(encoding="utf-8").splitlines():
        if json.loads(line)["case"] == case:
            print(line, flush=True)
    if os.environ.get("FAKE_HANGS") == case:
        time.sleep(600)
    if os.environ.get("FAKE_FAILS") == case:
        print("units were lost", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
