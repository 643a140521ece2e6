"""The state of a live run on disk: Arrow files with a manifest, one folder for each micro-batch.

A folder is written next to its place and moved there by one rename, so it is there whole or not at
all. The manifest has the version of the format, what the run is (a fingerprint), what was read
(commit_record), a hash of every file, and one of itself.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.runtime.columnar.frame import Frame, Name
from ontoweir.runtime.engine.execution import BlockState, ExecutionState
from ontoweir.runtime.kernel.kernel import KernelState
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord, SparkLog
from ontoweir.runtime.live.checkpoint.save_groups import from_groups, to_groups
from ontoweir.runtime.live.checkpoint.sync_files import disk_threads, sync_file, sync_files
from ontoweir.runtime.live.model.live_job import FileGroup, LiveJob, LiveOutcome, LiveState
from ontoweir.runtime.pool.text_table import TEXT
from ontoweir.runtime.sources.history import Cursor
from ontoweir.runtime.times.late_rows import LateRows

CHECKPOINT_VERSION = 8
_MANIFEST = "manifest.json"
_SEAL = "sha256"
_KEPT = 2
"""How many committed micro-batches stay on disk."""
REJECT_SCHEMA = pa.schema(
    [
        ("stream", pa.string()),
        ("at", pa.timestamp("us")),
        ("reason", pa.string()),
        ("row", pa.string()),
    ]
)


def commit_batch(
    folder: Path,
    fingerprint: str,
    record: CommitRecord,
    outcome: LiveOutcome,
    others: Collection[Path] = (),
) -> Path:
    """Write a micro-batch's state, answers and rejected rows; from then on it has happened.

    Args:
        folder: of all micro-batches.
        fingerprint: what the run is.
        record: what the micro-batch belongs to.
        outcome: what the micro-batch did.
        others: files and folders that must be on the disk before.

    Returns:
        the micro-batch's folder, with `answers-<query number>.arrow` and `rejects.arrow`.

    Raises:
        RunError: the disk does not take it; nothing is half written.
    """
    batch = outcome.state.batch
    place = folder / f"{batch:012d}"
    scratch = folder / f".{batch:012d}.new"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        contents = {name: _encode(table) for name, table in _files(outcome).items()}
        state = outcome.state
        manifest = {
            "version": CHECKPOINT_VERSION,
            "fingerprint": fingerprint,
            "batch": batch,
            "record": asdict(record),
            "finished_us": state.finished_us,
            "max_event_time": dict(state.max_event_time),
            "last_arrival": dict(state.last_arrival),
            "totals": dict(state.totals),
            "offsets": dict(state.offsets),
            "groups_of_files": {
                n: [g.modified, dict(g.latest), g.before_us] for n, g in state.files.items()
            },
            "arrived": dict(state.arrived),
            "reasons": dict(state.reasons),
            "late": {n: [late.needed_us, *late.counts] for n, late in state.late.items()},
            "texts": [_list_texts(query) for query in state.queries],
            "blocks": [_describe_blocks(query) for query in state.queries],
            "files": {n: hashlib.sha256(c).hexdigest() for n, c in contents.items()},
        }
        contents[_MANIFEST] = _seal(manifest)
        for name, content in contents.items():
            (scratch / name).write_bytes(content)
        there = [other for other in others if other.exists()]
        sync_files([scratch, *(scratch / name for name in contents), *there])
        os.rename(scratch, place)
        sync_file(folder)
    except OSError as error:
        shutil.rmtree(scratch, ignore_errors=True)
        raise RunError(
            f"micro-batch {batch} cannot be written to {folder}: {error.strerror or error}",
            why="its state, answers and offsets belong together",
            fix="make room, or mend the disk, and start again: what was committed is intact",
        ) from error
    return place


def drop_old_batches(folder: Path) -> "list[Future[None]]":
    """Remove the folders of all micro-batches but the last ones, in other threads: what is to be
    waited for before the run counts as stopped."""
    old = sorted(folder.glob("[0-9]*"))[:-_KEPT]
    return [disk_threads().submit(shutil.rmtree, place, ignore_errors=True) for place in old]


def _seal(manifest: Mapping[str, Any]) -> bytes:
    """A manifest with a hash of itself."""
    text = json.dumps(manifest, indent=1)
    return json.dumps({**manifest, _SEAL: _hash_text(text)}, indent=1).encode()


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def last_batch(folder: Path) -> Path | None:
    """The folder of the last committed micro-batch."""
    batches = sorted(folder.glob("[0-9]*"))
    return batches[-1] if batches else None


def load_state(place: Path, fingerprint: str, job: LiveJob) -> tuple[LiveState, CommitRecord]:
    """The state that a micro-batch committed, and what it belongs to.

    Raises:
        UsageError: it is of another run, another version, or damaged.
    """
    source = Source(str(place / _MANIFEST))
    try:
        manifest = json.loads((place / _MANIFEST).read_text(encoding="utf-8"))
        version, mine = manifest["version"], manifest["fingerprint"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged("its manifest cannot be read", source) from error
    if version != CHECKPOINT_VERSION:
        raise UsageError(
            f"the checkpoint has version {version}, this ontoweir writes {CHECKPOINT_VERSION}",
            why="the state of a run is read back exactly as it was written",
            fix="finish the run with the version that began it, or start with a new checkpoint",
            source=source,
        )
    seal = manifest.pop(_SEAL, None)
    if seal != _hash_text(json.dumps(manifest, indent=1)):
        raise _damaged("its manifest is not what was written", source)
    if place.name != f"{manifest['batch']:012d}":
        raise _damaged(f"its folder is of micro-batch {manifest['batch']}", source)
    if mine != fingerprint:
        raise UsageError(
            "the checkpoint is of another run",
            why="the query, the mappings, the catalog or the static data have changed since",
            fix="undo the change, or start with a new checkpoint (and replay what has passed)",
            source=source,
        )
    tables = {name: _read(place / name, digest) for name, digest in manifest["files"].items()}
    try:
        return _assemble(manifest, tables, job), _read_record(manifest["record"])
    except (KeyError, ValueError, TypeError, pa.ArrowInvalid) as error:
        raise _damaged("it lacks a part", source) from error


def _read_record(held: Mapping[str, Any]) -> CommitRecord:
    length, digest = held["parts"]
    return CommitRecord(**{**held, "spark": SparkLog(**held["spark"]), "parts": (length, digest)})


def _damaged(what: str, source: Source) -> UsageError:
    return UsageError(
        f"the checkpoint is damaged: {what}",
        why="the state of a run is trusted only whole",
        fix="restore it from a copy, or start with a new checkpoint and replay the history",
        source=source,
    )


def _files(outcome: LiveOutcome) -> dict[str, pa.Table]:
    files: dict[str, pa.Table] = {}
    for name, rows in outcome.state.buffered_rows.items():
        files[f"buffered-{name}.arrow"] = rows
    for number, query in enumerate(outcome.state.queries):
        files |= _query_files(str(number), query)
    for number, answers in enumerate(outcome.answers):
        if answers.num_rows:
            files[f"answers-{number}.arrow"] = answers
    if outcome.rejects:
        files["rejects.arrow"] = pa.table(
            {
                "stream": pa.array([r.stream for r in outcome.rejects], pa.string()),
                "at": pa.array([r.at_us for r in outcome.rejects], pa.int64()).cast(
                    REJECT_SCHEMA.field("at").type
                ),
                "reason": pa.array([r.reason for r in outcome.rejects], pa.string()),
                "row": pa.array([r.row for r in outcome.rejects], pa.string()),
            },
            schema=REJECT_SCHEMA,
        )
    return files


def _query_files(number: str, query: ExecutionState) -> dict[str, pa.Table]:
    """The state of a query, and of those whose answers it reads."""
    files: dict[str, pa.Table] = {}
    for place, kernel in enumerate(query.kernels):
        for members, frame in kernel.tables.items():
            key = "+".join(map(str, sorted(members)))
            files[f"state-{number}-{place}-{key}.arrow"] = _from_frame(frame)
    files |= {f"groups-{number}{n}": t for n, t in from_groups(query.groups).items()}
    if query.changes is not None:
        files[f"changes-{number}.arrow"] = query.changes
    for place, block in enumerate(query.blocks):
        for part, state in enumerate(block.states):
            files |= _query_files(f"{number}_{place}_{part}", state)
        files[f"waiting-{number}_{place}.arrow"] = block.waiting
    return files


def _list_texts(query: ExecutionState) -> list[list[str]]:
    return [texts.to_pylist() for texts in query.texts]


def _describe_blocks(query: ExecutionState) -> list[Any]:
    """Of the queries whose answers a query reads: their texts, and the same of those they read."""
    return [[[_list_texts(s), _describe_blocks(s)] for s in b.states] for b in query.blocks]


def _assemble(
    manifest: Mapping[str, Any], tables: Mapping[str, pa.Table], job: LiveJob
) -> LiveState:
    cursors = {h.stream.name: Cursor() for h in job.histories}
    queries = []
    for number, texts in enumerate(manifest["texts"][: len(job.queries)]):
        state = _assemble_query(str(number), texts, manifest["blocks"][number], tables)
        queries.append(replace(state, cursors=cursors))
    buffered_rows = {
        h.stream.name: tables[f"buffered-{h.stream.name}.arrow"]
        for h in job.histories
        if f"buffered-{h.stream.name}.arrow" in tables
    }
    return LiveState(
        batch=int(manifest["batch"]),
        buffered_rows=buffered_rows,
        max_event_time={k: int(v) for k, v in manifest["max_event_time"].items()},
        last_arrival={k: float(v) for k, v in manifest["last_arrival"].items()},
        finished_us=manifest["finished_us"],
        queries=tuple(queries),
        totals={k: int(v) for k, v in manifest["totals"].items()},
        offsets={k: int(v) for k, v in manifest["offsets"].items()},
        files={k: FileGroup(*group) for k, group in manifest["groups_of_files"].items()},
        arrived={k: int(v) for k, v in manifest["arrived"].items()},
        reasons={k: int(v) for k, v in manifest["reasons"].items()},
        late={k: LateRows(held[0], tuple(held[1:])) for k, held in manifest["late"].items()},
    )


def _assemble_query(
    number: str, texts: Sequence[Any], blocks: Sequence[Any], tables: Mapping[str, pa.Table]
) -> ExecutionState:
    """What `_query_files` and `_describe_blocks` say of a query."""
    kernels = []
    for place in range(len(texts)):
        prefix = f"state-{number}-{place}-"
        mine = {n: t for n, t in tables.items() if n.startswith(prefix)}
        kernels.append(
            KernelState(
                {
                    frozenset(map(int, n[len(prefix) : -6].split("+"))): _to_frame(t)
                    for n, t in mine.items()
                }
            )
        )
    prefix = f"groups-{number}."
    groups = {n[len(prefix) - 1 :]: t for n, t in tables.items() if n.startswith(prefix)}
    return ExecutionState(
        {},
        tuple(kernels),
        tuple(pa.array(held, TEXT) for held in texts),
        to_groups(groups),
        tables.get(f"changes-{number}.arrow"),
        tuple(
            BlockState(
                tuple(
                    _assemble_query(f"{number}_{place}_{part}", held, below, tables)
                    for part, (held, below) in enumerate(states)
                ),
                tables[f"waiting-{number}_{place}.arrow"],
            )
            for place, states in enumerate(blocks)
        ),
    )


def _from_frame(frame: Frame) -> pa.Table:
    names = [json.dumps(_plain(name)) for name in frame.columns]
    return pa.table([pa.array(c) for c in frame.columns.values()], names=names)


def _plain(name: Name) -> list[Any]:
    return [sorted(part) if isinstance(part, frozenset) else part for part in name]


def _to_frame(table: pa.Table) -> Frame:
    columns: dict[Name, Any] = {}
    for name in table.column_names:
        parts = json.loads(name)
        key = tuple(frozenset(p) if isinstance(p, list) else p for p in parts)
        columns[key] = np.array(table.column(name).to_numpy())
    return Frame(table.num_rows, columns)


def _encode(table: pa.Table) -> bytes:
    """A table as an Arrow file."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _read(file: Path, digest: str) -> pa.Table:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise _damaged(f"{file.name} is missing", Source(str(file))) from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise _damaged(f"{file.name} is not what was written", Source(str(file)))
    return pa.ipc.open_file(pa.BufferReader(content)).read_all()


def hash_parts(parts: Sequence[str | bytes]) -> str:
    """A fingerprint of what a run is made of."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "big"))
        digest.update(content)
    return digest.hexdigest()


def hash_table(table: pa.Table) -> bytes:
    """A fingerprint of a table's rows, in order."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return hashlib.sha256(sink.getvalue().to_pybytes()).digest()
