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
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.runtime.live.checkpoint.commit_record import CommitRecord, PartsMark, SparkLog
from ontoweir.runtime.live.checkpoint.state_tables import (
    assemble_state,
    decode_table,
    describe_state,
    encode_table,
    list_tables,
    tabulate_rejects,
)
from ontoweir.runtime.live.checkpoint.sync_files import disk_threads, sync_file, sync_files
from ontoweir.runtime.live.model.divided_state import DividedState
from ontoweir.runtime.live.model.live_job import LiveJob, LiveOutcome, LiveState

CHECKPOINT_VERSION = 10
DIVIDED_VERSION = 11
"""Of a checkpoint with a query whose rows are divided by key, whose parts are in other files."""
_MANIFEST = "manifest.json"
_SEAL = "sha256"
_KEPT = 2
"""How many committed micro-batches stay on disk."""


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
        contents = {name: encode_table(table) for name, table in _files(outcome).items()}
        state = outcome.state
        divided = any(isinstance(query, DividedState) for query in state.queries)
        manifest = {
            "version": DIVIDED_VERSION if divided else CHECKPOINT_VERSION,
            "fingerprint": fingerprint,
            "batch": batch,
            "record": asdict(record),
            **describe_state(state),
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


def read_parts(folder: Path, names: Sequence[str]) -> dict[str, int]:
    """Into how many parts the state of each query is divided in the last commit (1: it is not), by
    name; nothing where there is none, or where it cannot be read, which `load_state` says.

    Args:
        folder: of all micro-batches.
        names: of the run's queries, in order.
    """
    place = last_batch(folder)
    if place is None:
        return {}
    try:
        manifest = json.loads((place / _MANIFEST).read_text(encoding="utf-8"))
        divided = {int(n): len(parts) for n, parts in manifest.get("divided", {}).items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}
    return {name: divided.get(number, 1) for number, name in enumerate(names)}


def load_state(
    place: Path, fingerprint: str, job: LiveJob, former: str | None = None
) -> tuple[LiveState, CommitRecord]:
    """The state that a micro-batch committed, and what it belongs to: the run of a fingerprint, or
    a `former` one (None: no other).

    Raises:
        UsageError: it is of another run, another version, or damaged.
    """
    source = Source(str(place / _MANIFEST))
    try:
        manifest = json.loads((place / _MANIFEST).read_text(encoding="utf-8"))
        version, mine = manifest["version"], manifest["fingerprint"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged("its manifest cannot be read", source) from error
    if version not in (CHECKPOINT_VERSION, DIVIDED_VERSION):
        raise UsageError(
            f"the checkpoint has version {version}, this ontoweir writes {CHECKPOINT_VERSION}",
            why="the state of a run is read back exactly as it was written",
            fix="finish the run with the version that began it, or start with a new checkpoint",
            source=source,
        )
    seal = manifest.pop(_SEAL, None)
    if seal != _hash_text(json.dumps(manifest, indent=1)):
        raise damaged("its manifest is not what was written", source)
    if place.name != f"{manifest['batch']:012d}":
        raise damaged(f"its folder is of micro-batch {manifest['batch']}", source)
    if mine not in (fingerprint, former):
        raise UsageError(
            "the checkpoint is of another run",
            why="the query, the mappings, the catalog or the static data have changed since",
            fix="undo the change, or start with a new checkpoint (and replay what has passed)",
            source=source,
        )
    tables = {name: _read(place / name, digest) for name, digest in manifest["files"].items()}
    try:
        streams = [h.stream.name for h in job.histories]
        texts, held = manifest["texts"][: len(job.queries)], int(manifest["batch"])
        state = assemble_state({**manifest, "texts": texts}, tables, streams, held)
        return state, read_record(manifest["record"])
    except (KeyError, ValueError, TypeError, pa.ArrowInvalid) as error:
        raise damaged("it lacks a part", source) from error


def read_record(held: Mapping[str, Any]) -> CommitRecord:
    spark, parts = SparkLog(**held["spark"]), PartsMark(*held["parts"])
    return CommitRecord(**{**held, "spark": spark, "parts": parts})


def damaged(what: str, source: Source) -> UsageError:
    return UsageError(
        f"the checkpoint is damaged: {what}",
        why="the state of a run is trusted only whole",
        fix="restore it from a copy, or start with a new checkpoint and replay the history",
        source=source,
    )


def _files(outcome: LiveOutcome) -> dict[str, pa.Table]:
    files = list_tables(outcome.state)
    for number, answers in enumerate(outcome.answers):
        if answers.num_rows:
            files[f"answers-{number}.arrow"] = answers
    if outcome.rejects:
        files["rejects.arrow"] = tabulate_rejects(outcome.rejects)
    return files


def _read(file: Path, digest: str) -> pa.Table:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise damaged(f"{file.name} is missing", Source(str(file))) from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise damaged(f"{file.name} is not what was written", Source(str(file)))
    return decode_table(content)


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
