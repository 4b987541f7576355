# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""Errors that a user can mend: one clear line, exit code 2."""

from collections.abc import Iterable
from importlib import metadata

# The exit code of a command that Ctrl-C ended, as shells have it.
INTERRUPTED = 130


class UsageError(Exception):
    """What was asked for cannot be done; the message says what would be right."""


class PackagesMissing(UsageError):
    """Packages of others are missing, or cannot be imported together."""


def unknown_name(what: str, given: str, right: Iterable[str]) -> UsageError:
    """The error for a name that is not in a list: it names the right ones."""
    return UsageError(f"{what}: '{given}' is unknown here; use one of: {', '.join(right)}")


def packages_missing(module: str, needed: str, names: Iterable[str], error: Exception, command: str) -> PackagesMissing:
    """The error for packages that cannot be imported together: it has their versions, and the command that mends it."""
    found = []
    for name in names:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"no {name}")
    return PackagesMissing(f"{module} needs {needed}, and found {', '.join(found)} ({error}): {command}")
