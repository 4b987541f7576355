# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Speaks the language of the pool's driver. What it does is in the subject's name; FAKE_SUBJECTS may list others."""

import json
import os
import sys
import time


def main() -> int:
    """Prints one record or two for a case."""
    words = sys.argv[1:]
    if words[-1] == "--list":
        print("\n".join(os.environ.get("FAKE_SUBJECTS", "pool stream_pool broken endless").split()))
        return 0
    case, subject = words[words.index("--case") + 1], words[words.index("--subject") + 1]
    known = {"case": case, "subject": subject, "backend": "host", "device": "Fake", "version": "0", "sources": "a" * 64}
    speed = 50.0 if subject == "pool" else 120.0
    times = {f"{call}{end}": speed for call in ("allocate", "deallocate") for end in ("_ns", "_least_ns")}
    places = {
        "sizes": [{"size": 1, **times}, {"size": 1 << 30, **times, "allocate_ns": 2 * speed}],
        "live": [{"live": 100, "host_bytes": 4096, **times}, {"live": 10**7, "host_bytes": 48 * 10**7, **times}],
        "churn": [{"live": 4096, **times}],
        "streams": [{"threads": n, "pairs_per_second": 4e6 * n} for n in (1, 2)],
    }
    if case == "replay":  # as the driver does: with the path that it was given
        places[case] = [{"log": words[words.index("--log") + 1], "calls": 2, "call_ns": speed, "call_least_ns": speed}]
    for place in places.get(case, []):
        print(json.dumps({**known, **place}), flush=True)
    if subject == "broken":
        print("it broke", file=sys.stderr)
        return 1
    if subject == "endless":
        time.sleep(600)
    return 0


if __name__ == "__main__":
    sys.exit(main())
