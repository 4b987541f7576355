# SPDX-FileCopyrightText: 2026 The warpheap authors
# SPDX-License-Identifier: Apache-2.0
"""The record: JSON lines, one object a case. docs/records.md describes each field.

The schema has a version. A field that is added leaves it as it is; one that goes or changes its meaning raises it.
Records of older versions are upgraded on reading; a newer one is refused.
"""

from warpheap.record.file import (
    RECORD_NAME,
    RecordFile,
    read_lines,
    read_numbered,
    read_records,
    record_at,
    write_records,
)
from warpheap.record.measure import Measure, spread
from warpheap.record.parse import NotJsonError, ParseError, parse
from warpheap.record.schema import (
    BACKENDS,
    KEY_FIELDS,
    LACKS_FREE,
    SCHEMA,
    STATUSES,
    Key,
    Record,
    RecordError,
    describe,
    key,
    out_of_time,
    unable,
    validate,
)

__all__ = [
    "BACKENDS",
    "KEY_FIELDS",
    "LACKS_FREE",
    "RECORD_NAME",
    "SCHEMA",
    "STATUSES",
    "Key",
    "Measure",
    "NotJsonError",
    "ParseError",
    "Record",
    "RecordError",
    "RecordFile",
    "describe",
    "key",
    "out_of_time",
    "parse",
    "read_lines",
    "read_numbered",
    "read_records",
    "record_at",
    "spread",
    "unable",
    "validate",
    "write_records",
]
