"""Write the rows that a replay rejects, with the reason and their places in files."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.errors import Source, UsageError
from ontoweir.files.replace_file import replacing
from ontoweir.runtime.engine.configure_run import RunConfig
from ontoweir.runtime.ingest.list_references import reference_checks
from ontoweir.runtime.replay.open_arrivals import open_arrivals
from ontoweir.runtime.replay.open_history import StagingArea
from ontoweir.runtime.results.plain_json import plain_json
from ontoweir.runtime.rules.keep_broken import BrokenRows, read_broken
from ontoweir.runtime.sources.history import History
from ontoweir.runtime.statics.load_statics import load_statics
from ontoweir.runtime.violations.quote_rows import quote_rows
from ontoweir.runtime.violations.scan_stream import StreamScan
from ontoweir.runtime.violations.violation import Found

REJECTS = "rejects.parquet"
_SCHEMA = pa.schema(
    [
        ("stream", pa.string()),
        ("at", pa.timestamp("us")),
        ("reason", pa.string()),
        ("file", pa.string()),
        ("number", pa.int64()),
        ("row", pa.string()),
    ]
)
_PORTION = 50_000
"""So many rows are written at once."""


def write_rejects(
    folder: Path, config: RunConfig, rejected: Mapping[str, int], area: StagingArea
) -> int:
    """Write `rejects.parquet` into a folder: for each rejected row its stream, timestamp (`at`),
    reason, file, number there (a line of text, else a row, from 1), and content as JSON (`row`);
    how many there are. The rows are looked for again, in the order in which they came; a file
    without rows is written where none was rejected.

    Args:
        folder: which is made where it is not there.
        config: what the replay derives from its query, with all references.
        rejected: how many rows the replay has rejected, by reason.
        area: with what histories are opened, in a folder of their own.

    Raises:
        UsageError: the folder cannot be written.
        DataError: a file cannot be read.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (
            replacing(folder / REJECTS, shared=True) as scratch,
            pq.ParquetWriter(scratch, _SCHEMA, compression="zstd") as writer,
        ):
            return sum(_write(writer, rows) for rows in _find_all(config, rejected, area))
    except OSError as error:
        raise UsageError(
            f"the rejected rows cannot be written: {error.strerror or error}",
            why="--rejects names a folder, which is made where it is not there",
            fix="name another, or make room there",
            source=Source(str(folder)),
        ) from error


def _write(writer: "pq.ParquetWriter", rows: pa.Table) -> int:
    writer.write_table(rows)
    return int(rows.num_rows)


def _find_all(
    config: RunConfig, rejected: Mapping[str, int], area: StagingArea
) -> Iterator[pa.Table]:
    if not any(rejected.values()):
        return
    catalog = config.catalog
    statics = load_statics(
        area.spark,
        catalog,
        {r.relation for r in config.references},
        area.folder / "rejected-statics",
        here=area.here,
    )
    checks = reference_checks(config.references, statics)
    apart = replace(area, folder=area.folder / "rejected", progress=None)
    for name, columns in config.streams.items():
        history = open_arrivals(catalog, columns, apart)
        scan = StreamScan(history, checks.get(name, ()), span=area.span, closed=False)
        files: defaultdict[str, list[Found]] = defaultdict(list)
        for found in scan.find():
            files[found.file].append(found)
        for file, mine in files.items():
            yield from _describe(history, file, mine)
    for kept in read_broken(area.folder):
        yield _describe_broken(kept)


def _describe(history: History, file: str, found: Sequence[Found]) -> Iterator[pa.Table]:
    """The rejected rows of a file, in its order."""
    numbers = np.concatenate([f.numbers for f in found])
    reasons = [f.reason for f in found for _ in range(len(f.numbers))]
    times = np.concatenate([np.where(f.timed, f.times, 0) for f in found])
    timed = np.concatenate([f.timed for f in found])
    order = np.argsort(numbers, kind="stable")
    quoted = quote_rows(history.stream.data, file, numbers[order].tolist())
    if quoted is None:  # as far as it was read
        typed = [row for f in found for row in f.rows.to_pylist()]
        quoted = iter([(int(numbers[place]), typed[place]) for place in order.tolist()])
    for start in range(0, len(order), _PORTION):
        index = order[start : start + _PORTION]
        held = list(islice(quoted, len(index)))
        rows = [_json(row) for _, row in held] + [""] * (len(index) - len(held))
        lines = [line for line, _ in held] + numbers[index[len(held) :]].tolist()
        micros = pa.array(times[index], pa.int64(), mask=~timed[index])
        yield pa.table(
            {
                "stream": pa.repeat(history.stream.name, len(index)),
                "at": micros.cast(pa.timestamp("us")),
                "reason": [reasons[place] for place in index.tolist()],
                "file": pa.repeat(file, len(index)),
                "number": lines,
                "row": rows,
            },
            schema=_SCHEMA,
        )


def _describe_broken(broken: BrokenRows) -> pa.Table:
    """Rows that break a rule, as far as they were read; where they are is not known."""
    rows = broken.rows.to_pylist()
    columns = {
        "stream": pa.repeat(broken.stream, len(rows)),
        "at": pa.array(broken.times, pa.int64()).cast(pa.timestamp("us")),
        "reason": pa.repeat(broken.reason, len(rows)),
        "file": pa.nulls(len(rows), pa.string()),
        "number": pa.nulls(len(rows), pa.int64()),
        "row": [_json(row) for row in rows],
    }
    return pa.table(columns, schema=_SCHEMA)


def _json(row: Mapping[str, object]) -> str:
    return json.dumps(row, default=plain_json, ensure_ascii=False)
