# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Speaks GoogleTest's language. What a test does is in its name; FAKE_TESTS lists them as Suite.name."""

import os
import signal
import sys
import time

TESTS = os.environ["FAKE_TESTS"].split()


def say(text: str) -> None:
    print(text, flush=True)


def main(words: list[str]) -> int:
    given = dict(word.split("=", 1) for word in words if "=" in word)
    wanted = given.get("--gtest_filter", "*").split(":")
    chosen = [name for name in TESTS if wanted == ["*"] or name in wanted]
    if "--gtest_list_tests" in words:
        for suite in dict.fromkeys(name.split(".")[0] for name in chosen):
            say(f"{suite}.")
            for name in chosen:
                if name.startswith(suite + "."):
                    say(f"  {name.split('.')[1]}  # GetParam() = 3")
        return 0
    say("[==========] Running tests.")
    for index, name in enumerate(chosen):
        say(f"[ RUN      ] {name}")
        if "hangs" in name:
            time.sleep(600)
        if "crashes" in name:
            os.kill(os.getpid(), signal.SIGABRT)
        if "fails" in name:
            say(f"file.cpp:3: Failure\nExpected 1\n[  FAILED  ] {name}, where GetParam() = 3 (5 ms)")
            for rest in chosen[index + 1 :]:
                say(f"[ RUN      ] {rest}\n[  SKIPPED ] {rest} (0 ms)")
            return 1
        if "starts" in name or "within" in name:  # another process of these tests, which writes to the same output
            say(f"[ RUN      ] {TESTS[-1]}\n[       OK ] {TESTS[-1]} (3 ms)")
        if "skips" in name:
            say(f"file.cpp:4: Skipped\nneeds two GPUs\n[  SKIPPED ] {name} (0 ms)")
        else:
            # Kernels print without an end of line of ours.
            say(f"from a kernel[       OK ] {name} (12 ms)")
    return 0


sys.exit(main(sys.argv[1:]))
