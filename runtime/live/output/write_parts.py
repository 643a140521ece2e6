"""Write published files, each with what it belongs to, and find those that are not as they were.

A Parquet file has the id of its run, its micro-batch and a hash of its rows in its metadata; the
folder of any format says whose it is in `.ontoweir-run`. So a file that a micro-batch wrote which
is not in the checkpoint (that is an older copy) is distinguished from one of another run.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, assert_never

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from ontoweir.errors import OntoweirError, RunError, Source, UsageError
from ontoweir.files.replace_file import replace_file
from ontoweir.runtime.live.checkpoint.record_spark import hash_file
from ontoweir.runtime.live.checkpoint.sync_files import disk_threads
from ontoweir.runtime.live.output.list_parts import PartList, PublishedPart
from ontoweir.runtime.live.output.sinks.files import FileFormat
from ontoweir.runtime.packed.write_avro import AvroWriter
from ontoweir.runtime.rdf.encode_rows import RowEncoder, name_scope
from ontoweir.runtime.rdf.find_terms import AnswerTerms
from ontoweir.runtime.results.plain_json import plain_json

OWNER = ".ontoweir-run"
"""The file of a folder of parts that says which run they are of."""
SMALL = 1 << 14
"""Bytes of rows that are not packed."""
_LEAST, _SIDE_BY_SIDE = 4, 4
"""So many parts, at least, are written one after the other, and so many such rows of parts."""
_RUN, _BATCH, _ROWS = b"ontoweir.run", b"ontoweir.batch", b"ontoweir.rows"


@dataclass(frozen=True, slots=True)
class PartFolder:
    """A folder of parts: `name`, below the `place` "answers" or "rejects", and their format."""

    place: str
    name: str
    format: FileFormat


@dataclass(slots=True)
class PartWriter:
    """Writes the parts of one run. `places`: the folders of "answers" and "rejects"; `fresh`: files
    and folders that must be on the disk before the commits they come from are removed; `waits`:
    whether each part is waited for by itself (otherwise it is `fresh`, too); `terms`: of answers
    that are written as RDF, by the name of their folder; `merged`: parts that the next commit
    lists, and that are shown when it is there; `left`: folders of which the files before are still
    there, beside the checkpoint, since when (s, monotonic); `owned`: folders that say whose they
    are."""

    run: str
    parts: PartList
    places: dict[str, Path]
    fresh: set[Path] = field(default_factory=set)
    waits: bool = True
    terms: dict[str, AnswerTerms] = field(default_factory=dict)
    merged: list[PublishedPart] = field(default_factory=list)
    left: dict[tuple[str, str], float] = field(default_factory=dict)
    owned: set[Path] = field(default_factory=set)

    def put(self, place: str, folder: str, batch: int, rows: pa.Table, form: FileFormat) -> None:
        """Write a micro-batch's rows to `part-<batch>.<form>` in a folder, and list it. What is
        there already is kept if it is the same, and replaced if it is of this run.

        Raises:
            RunError: the disk does not take it.
            UsageError: there is a file of another run.
        """
        self.put_all([(PartFolder(place, folder, form), rows)], batch)

    def put_all(self, parts: Sequence[tuple[PartFolder, pa.Table]], batch: int) -> None:
        """`put` of several.

        Raises:
            RunError: the disk does not take one of them.
            UsageError: there is a file of another run.
        """
        for error in self.put_each(parts, batch).values():
            raise error

    def put_each(
        self, parts: Sequence[tuple[PartFolder, pa.Table]], batch: int
    ) -> dict[str, OntoweirError]:
        """`put` of several, listed in their order; what is in a merged part already stays there.
        They are written side by side where a thread waits, for the disk or for Arrow to pack rows:
        otherwise it would wait for the interpreter. Returns those that fail, by their place, and
        why."""
        parts = [p for p in parts if batch > self.parts.ends.get((p[0].place, p[0].name), -1)]
        aside = self.waits or any(rows.nbytes > SMALL for _, rows in parts)
        size = max(_LEAST, -(-len(parts) // _SIDE_BY_SIDE) if aside else len(parts))
        blocks = [parts[n : n + size] for n in range(0, len(parts), size)]

        failed: dict[str, OntoweirError] = {}

        def write(block: Sequence[tuple[PartFolder, pa.Table]]) -> list[PublishedPart]:
            made = []
            for folder, rows in block:
                try:
                    made.append(self._write(folder, rows, batch))
                except OntoweirError as error:
                    failed.setdefault(folder.place, error)
            return made

        done = map(write, blocks) if len(blocks) < 2 else disk_threads().map(write, blocks)
        written = [part for block in done for part in block]
        if written:
            self.parts.add_all(written)
            self.fresh.add(self.parts.file)
        return failed

    def _write(self, folder: PartFolder, rows: pa.Table, batch: int) -> PublishedPart:
        part = f"part-{batch:012d}.{folder.format}"
        parent = self.places[folder.place] / folder.name
        target = f"{parent}/{part}"
        content = self.encode(folder.name, rows, folder.format, batch)
        digest = hashlib.sha256(content).hexdigest()
        try:
            if parent not in self.owned or not os.path.exists(parent):
                self._own(parent)
            there = os.path.exists(target)
            if not there or hash_file(Path(target)) != digest:
                if there and not is_mine(Path(target), self.run):
                    raise foreign_part(Path(target))
                replace_file(target, content, durable=self.waits)
                if not self.waits:
                    self.fresh.add(Path(target))
            status = os.stat(target)
        except OSError as error:
            raise RunError(
                f"answers cannot be written to {target}: {error.strerror or error}",
                why="they are committed, but not where they belong yet",
                fix="make room, or mend the folder, and start again: they are written then",
            ) from error
        self.fresh.add(parent)
        changed = status.st_ctime_ns
        name = f"{folder.name}/{part}"
        return PublishedPart(folder.place, name, batch, status.st_size, changed, digest)

    def _own(self, parent: Path) -> None:
        """Let a folder say that it is of this run."""
        if not os.path.exists(parent / OWNER):
            put_part(self.run.encode(), parent / OWNER)
            self.fresh.add(parent.parent)
        self.owned.add(parent)

    def encode(
        self, folder: str, rows: pa.Table, form: FileFormat, batch: int, *, small: int = SMALL
    ) -> bytes:
        """The content of a part."""
        if form == "srj" or form == "nq":
            scope = name_scope(self.run, folder, str(batch))
            terms = self.terms.get(folder, AnswerTerms())
            return RowEncoder(form, rows.schema, terms, scope).whole(rows)
        return encode_part(rows, form, self.run, batch, small=small)


def encode_part(
    rows: pa.Table,
    form: Literal["parquet", "jsonl", "csv", "arrow", "avro"],
    run: str,
    batch: int,
    *,
    small: int = SMALL,
) -> bytes:
    """Rows as a Parquet file that says what it belongs to, or in another format. Up to `small`
    bytes of rows are written plain, without dictionaries: to pack them takes several times as long
    as to write them, and saves at most a few blocks of a disk."""
    match form:
        case "jsonl":
            lines = (
                json.dumps(r, default=plain_json, ensure_ascii=False) for r in rows.to_pylist()
            )
            return "".join(f"{line}\n" for line in lines).encode()
        case "csv" | "arrow" | "avro":
            return _encode_tables(rows, form)
        case "parquet":
            return _encode_parquet(rows, run, batch, small)
        case _:
            assert_never(form)


def _encode_tables(rows: pa.Table, form: Literal["csv", "arrow", "avro"]) -> bytes:
    stream = pa.BufferOutputStream()
    writer: Any
    match form:
        case "csv":
            writer = pcsv.CSVWriter(stream, rows.schema)
        case "arrow":
            writer = pa.ipc.new_file(stream, rows.schema)
        case "avro":
            writer = AvroWriter(stream, rows.schema)
        case _:
            assert_never(form)
    writer.write_table(rows.combine_chunks())
    writer.close()
    content: bytes = stream.getvalue().to_pybytes()
    return content


def _encode_parquet(rows: pa.Table, run: str, batch: int, small: int) -> bytes:
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, rows.schema) as writer:
        writer.write_table(rows.combine_chunks())
    digest = hashlib.sha256(stream.getvalue()).hexdigest()
    marks = {_RUN: run.encode(), _BATCH: str(batch).encode(), _ROWS: digest.encode()}
    known = rows.schema.metadata or {}
    marked = rows.replace_schema_metadata({**known, **marks})
    stream = pa.BufferOutputStream()
    packed = rows.nbytes > small
    codec = "zstd" if packed else "none"
    pq.write_table(marked, stream, compression=codec, use_dictionary=packed)
    content: bytes = stream.getvalue().to_pybytes()
    return content


def begin_parquet(target: Path, schema: pa.Schema, run: str, batches: str) -> pq.ParquetWriter:
    """A Parquet file that rows of several micro-batches are written to."""
    known = {k: v for k, v in (schema.metadata or {}).items() if k not in (_RUN, _BATCH, _ROWS)}
    marks = {_RUN: run.encode(), _BATCH: batches.encode()}
    return pq.ParquetWriter(target, schema.with_metadata({**known, **marks}), compression="zstd")


def put_part(content: bytes, target: Path, *, durable: bool = True) -> None:
    """Write a file, whole or not at all, and (`durable`) wait for the disk.

    Raises:
        OSError: the disk does not take it.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    replace_file(target, content, durable=durable)


def is_mine(file: Path, run: str) -> bool:
    """Whether a part is of a run, as it says itself, or, if it cannot, as its folder says."""
    if file.suffix == ".parquet":
        try:
            owner = (pq.read_schema(file).metadata or {}).get(_RUN)
        except (OSError, pa.ArrowException):
            owner = None
        if owner is not None:
            return bool(owner == run.encode())
    try:
        return (file.parent / OWNER).read_text(encoding="utf-8") == run
    except (OSError, UnicodeDecodeError):
        return False


def foreign_part(file: Path) -> UsageError:
    """The error of a file in the output that is of another run."""
    return UsageError(
        f"{file} is of another run",
        why="the answers of this one would get its name, or stand beside it",
        fix="move it away, or restore the output folder as this run left it",
        source=Source(str(file)),
    )


def list_part_files(writer: PartWriter, folder: PartFolder) -> list[Path]:
    """The files of parts in a folder, in their order."""
    return sorted((writer.places[folder.place] / folder.name).glob(f"part-*.{folder.format}"))


def drop_future(writer: PartWriter, folders: Sequence[PartFolder], last: int) -> None:
    """Remove parts of a run of micro-batches after the last that is committed: they come again.

    Raises:
        UsageError: a part there is not of this run.
        RunError: the disk does not let it.
    """
    for folder in folders:
        for file in list_part_files(writer, folder):
            text = file.stem.removeprefix("part-")
            if not text.isdigit() or int(text) <= last:
                continue
            if not is_mine(file, writer.run):
                raise foreign_part(file)
            try:
                file.unlink()
            except OSError as error:
                raise RunError(
                    f"{file} cannot be removed: {error.strerror or error}",
                    why="the micro-batch that wrote it is not in the checkpoint, and comes again",
                    fix="remove it, and start again",
                ) from error
