"""Metrics on disk: a JSON line for each micro-batch, and the last one for Prometheus."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ontoweir.errors import RunError
from ontoweir.files.replace_file import replace_file
from ontoweir.progress.prometheus_text import list_series

LINES, GAUGES = "metrics.jsonl", "metrics.prom"
_LONGEST = 64 << 20
"""Bytes of metrics.jsonl, after which it becomes metrics.1.jsonl."""


def write_metrics(folder: Path, record: Mapping[str, Any], longest: int = _LONGEST) -> None:
    """Append a record (measure_batch) to metrics.jsonl, and replace metrics.prom by it.

    metrics.prom is for the node exporter's textfile collector: replaced whole, in the text format
    of Prometheus. A metrics.jsonl of more than `longest` bytes becomes metrics.1.jsonl.

    Where metrics.prom is a link, what it points to is replaced.

    Raises:
        RunError: they cannot be written.
    """
    lines, gauges = folder / LINES, folder / GAUGES
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(lines, "ab") as file:
            file.write(json.dumps(record).encode() + b"\n")
            full = file.tell() > longest
        if full:
            os.replace(lines, folder / "metrics.1.jsonl")
        text = "".join(f"{line}\n" for line in _gauges(record))
        if os.path.islink(gauges):
            gauges = Path(os.path.realpath(gauges))
        replace_file(gauges, text.encode())
    except OSError as error:
        raise RunError(
            f"metrics cannot be written to {folder}: {error.strerror or error}",
            why="the micro-batch is committed and its answers are published, but a run that "
            "cannot be watched does not go on",
            fix="make room, or name another folder with --metrics, and start again",
        ) from error


def _gauges(record: Mapping[str, Any]) -> Iterator[str]:
    yield from list_series("batch", "gauge", "the last micro-batch", [({}, record["batch"])])
    yield from list_series("batch_seconds", "gauge", "its duration", [({}, record["seconds"])])
    stages = [({"stage": s}, taken) for s, taken in record["stages"].items()]
    yield from list_series("stage_seconds", "gauge", "its duration, by stage", stages)
    for name in ("tuples", "markers", "results", "late", "rejected"):
        count = record["totals"][name]
        yield from list_series(f"{name}_total", "counter", f"{name} so far", [({}, count)])
    reasons = [({"reason": r}, n) for r, n in sorted(record["rejects"].items())]
    yield from list_series("rejects_total", "counter", "rejected tuples by reason", reasons)
    behind = record["behind_seconds"]
    text = "application time from the last finished timestamp to the newest that has come"
    yield from list_series(
        "behind_seconds", "gauge", text, [] if behind is None else [({}, behind)]
    )
    streams = record["streams"].items()
    for field, kind, text in (
        ("tuples", "counter", "tuples read"),
        ("waiting", "gauge", "rows that wait for a marker"),
        ("lag_seconds", "gauge", "application time behind the clock"),
    ):
        shown = [({"stream": s}, v[field]) for s, v in streams if v[field] is not None]
        suffix = "_total" if kind == "counter" else ""
        yield from list_series(f"stream_{field}{suffix}", kind, f"{text}, by stream", shown)
    for field, text in (("in_use", "in use"), ("observed", "observed in the last window")):
        marks = [
            ({"stream": m["stream"], "rule": m["rule"], "unit": m["unit"]}, m[field])
            for m in record["limits"]
        ]
        yield from list_series(f"limit_{field}", "gauge", f"the k of a rule that is {text}", marks)
    queries = record["queries"].items()
    for field in ("state_rows", "state_bytes", "bound_rows", "bound_bytes"):
        kept = [({"query": q}, v[field]) for q, v in queries if v[field] is not None]
        yield from list_series(
            f"query_{field}", "gauge", f"{field.replace('_', ' ')} of a query", kept
        )
    for field, kind, text in (
        ("rows", "gauge", "rows on disk that a rule dropped"),
        ("bytes", "gauge", "bytes on disk of rows that a rule dropped"),
        ("found", "counter", "rows that were found again on disk"),
    ):
        disk = [({"query": q}, v["on_disk"][field]) for q, v in queries if v["on_disk"]]
        suffix = "_total" if kind == "counter" else ""
        yield from list_series(f"on_disk_{field}{suffix}", kind, text, disk)
    rules = [({"query": q, "rule": r["rule"]}, r) for q, v in queries for r in v["rules"]]
    counted = [(where, r["broken"]) for where, r in rules if r["broken"] is not None]
    text = "tuples that broke a rule and were let in"
    yield from list_series("rule_broken_total", "counter", text, counted)
    held = [(where, r["remembered"]) for where, r in rules]
    yield from list_series("rule_remembered", "gauge", "closed values that a rule remembers", held)
    for field in ("rows", "bytes", "bound_rows", "bound_bytes"):
        parts = [
            ({"query": q, "synopsis": s["synopsis"]}, s[field])
            for q, v in queries
            for s in v["synopses"]
            if s[field] is not None
        ]
        text = f"{field.replace('_', ' ')} of a synopsis"
        yield from list_series(f"synopsis_{field}", "gauge", text, parts)
