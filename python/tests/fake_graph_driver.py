# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Speaks the language of the driver of `graph`: prints the records of a file that it is asked for."""

import json
import os
import sys
import time
from pathlib import Path


def main() -> int:
    """Prints them; the environment says for which system it then fails or hangs."""
    known = [json.loads(line) for line in Path(os.environ["FAKE_RECORDS"]).read_text(encoding="utf-8").splitlines()]
    if "--systems" in sys.argv:
        print("\n".join(dict.fromkeys(each["subject"] for each in known)))
        return 0
    system, graph, cases = (sys.argv[sys.argv.index(name) + 1] for name in ("--system", "--graph", "--case"))
    failed = False
    for each in known:
        if each["subject"] != system or each["case"] not in cases.split(",") or not each["graph"].endswith(graph):
            continue
        if os.environ.get("FAKE_HANGS") == f"{system} {each['case']}":
            time.sleep(600)
        if os.environ.get("FAKE_FAILS") == f"{system} {each['case']}":
            print("a list was lost", file=sys.stderr)
            return 134
        print(json.dumps(each), flush=True)
        failed |= each["status"] == "failed"
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
