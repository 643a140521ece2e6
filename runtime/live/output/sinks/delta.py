"""Answers as rows of a Delta table, by deltalake: each micro-batch is one transaction."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import unquote

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.runtime.live.checkpoint.sync_files import sync_files
from ontoweir.runtime.live.output.sinks.sink import (
    MessageSink,
    SinkKind,
    refuse_option,
    require_package,
    take_upsert,
    tell_gone,
)
from ontoweir.runtime.packed.write_delta import name_application
from ontoweir.runtime.spark.redact_secrets import redact_secrets
from ontoweir.runtime.times.give_zone import give_zone

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import CommitProperties, DeltaTable
    from pyspark.sql import SparkSession

_STORAGE = "storage."
_HOLDS = "_holds"


@dataclass(frozen=True)
class DeltaSink(MessageSink):
    """Rows of a Delta table for each query: `place`, a folder or an address, in which {query} is
    its name; `storage`: deltalake's options of an object store. A transaction notes the number of
    its micro-batch, so each is taken once. `keys`, if rows replace others: they are merged.
    `there`: queries whose table this process has seen."""

    irrevocable: ClassVar[bool] = True
    place: str
    storage: Mapping[str, str] = field(default_factory=dict)
    keys: dict[str, tuple[str, ...]] | None = field(default=None, compare=False)
    begun: dict[str, str] = field(default_factory=dict, compare=False)
    there: set[str] = field(default_factory=set, compare=False)

    def describe(self, query: str) -> str:
        """The table."""
        return f"the Delta table {self._name(query)}"

    def redact(self, text: str) -> str:
        """A message without the values of options that are secret."""
        return redact_secrets(text, self.storage)

    def begin(self, query: str) -> None:
        """Refuse a table with rows, or a folder of something else: of a new run nothing is there.

        Raises:
            UsageError: that is so; or another query has the same table.
            RunError: it cannot be reached.
        """
        from deltalake.exceptions import DeltaError

        name = self._name(query)
        if self.begun.setdefault(name, query) != query:
            raise UsageError(
                f"{self.describe(query)} would have the answers of several queries",
                why="each has columns of its own",
                fix="write {query} in the option path, which stands for the query's name",
                source=Source("--sink-option"),
            )
        try:
            table = self._open(query)
            if table is not None:
                other = _last(table, query) is not None or bool(table.file_uris())
            else:
                folder = Path(name)
                other = "://" not in name and folder.exists() and any(folder.iterdir())
        except (DeltaError, OSError, ValueError) as error:
            raise self._failed(query, error, "nothing has been written yet") from error
        if other:
            raise self._foreign(query)

    def publish(
        self, query: str, batch: int, answers: "pa.Table", spark: "SparkSession | None"
    ) -> None:
        """Append the answers, or merge what has changed, in one transaction."""
        import pyarrow as pa
        from deltalake import CommitProperties, Transaction
        from deltalake.exceptions import DeltaError

        try:
            table = self._open(query)
            last = None if table is None else _last(table, query)
            if last is not None:
                self.there.add(query)
            if last is not None and last >= batch:
                return
            if table is not None and last is None and table.file_uris():
                raise self._foreign(query)
            if table is None and query in self.there:
                tell_gone(self.describe(query), holds=self.keys is not None)
            noted = CommitProperties(app_transactions=[Transaction(name_application(query), batch)])
            if self.keys is None:
                self._append(query, give_zone(answers), noted)
            else:
                self._merge(query, table, answers, noted)
            self.there.add(query)
            self._sync(query)
        except (DeltaError, OSError, ValueError, pa.ArrowException) as error:
            why = "they are committed, but not where they belong yet"
            raise self._failed(query, error, why) from error

    def _append(self, query: str, rows: "pa.Table", noted: "CommitProperties") -> None:
        from deltalake import write_deltalake

        write_deltalake(
            self._name(query),
            rows,
            mode="append",
            storage_options=dict(self.storage),
            commit_properties=noted,
        )

    def _merge(
        self,
        query: str,
        table: "DeltaTable | None",
        answers: "pa.Table",
        noted: "CommitProperties",
    ) -> None:
        from ontoweir.runtime.live.output.upserts.reduce_changes import reduce_changes

        assert self.keys is not None
        key, changed = self.keys[query], reduce_changes(answers, self.keys[query])
        rows = give_zone(changed.rows)
        if table is None:
            self._append(query, rows.filter(changed.holds), noted)
            return
        same = " AND ".join(
            f"(held.{_quote(n)} IS NOT DISTINCT FROM came.{_quote(n)})" for n in key
        )
        came = {_quote(name): f"came.{_quote(name)}" for name in rows.column_names}
        merged = table.merge(
            rows.append_column(_HOLDS, changed.holds),
            same or "true",
            source_alias="came",
            target_alias="held",
            commit_properties=noted,
        )
        merged = merged.when_matched_delete(f"NOT came.{_HOLDS}")
        merged = merged.when_matched_update(came, predicate=f"came.{_HOLDS}")
        merged.when_not_matched_insert(came, predicate=f"came.{_HOLDS}").execute()

    def _open(self, query: str) -> "DeltaTable | None":
        """The table as it is now (None: there is none)."""
        from deltalake import DeltaTable

        name, storage = self._name(query), dict(self.storage)
        if not DeltaTable.is_deltatable(name, storage):
            return None
        return DeltaTable(name, storage_options=storage)

    def _sync(self, query: str) -> None:
        """Wait for the disk, where the table is on one of this machine: before the commit says that
        it is published, as after a power cut it would stay behind."""
        name = self._name(query)
        if "://" in name:
            return
        table = self._open(query)
        assert table is not None
        folder = Path(name)
        log = folder / "_delta_log" / f"{table.version():020d}.json"
        actions = map(json.loads, log.read_text(encoding="utf-8").splitlines())
        files = [folder / unquote(a["add"]["path"]) for a in actions if "add" in a]
        sync_files([log, *files, log.parent, folder, folder.parent, *{f.parent for f in files}])

    def _name(self, query: str) -> str:
        return self.place.replace("{query}", query)

    def _foreign(self, query: str) -> UsageError:
        return UsageError(
            f"{self.describe(query)} is of another run, or there is something else",
            why="the checkpoint does not know its rows, which would stay beside those of this run",
            fix="name another --output, or --sink-option path, or move the table away; one without "
            "rows, made with the partitions and properties that it shall have, may be there",
            source=Source("--sink-option"),
        )

    def _failed(self, query: str, error: Exception, why: str) -> RunError:
        return RunError(
            self.redact(f"answers cannot be written to {self.describe(query)}: {_first(error)}"),
            why=why,
            fix="check the place and the options of the sink, and start again: they are written "
            "then",
        )


def _last(table: "DeltaTable", query: str) -> int | None:
    """The last micro-batch that a table has."""
    return table.transaction_version(name_application(query))


def _quote(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def _first(error: Exception) -> str:
    return next((x.strip() for x in str(error).splitlines() if x.strip()), "it fails")[:300]


def _make(folder: Path, options: Mapping[str, str]) -> DeltaSink:
    require_package("delta", "deltalake", "deltalake")
    given = dict(options)
    keys = take_upsert("delta", given)
    place = given.pop("path", str(folder / "{query}"))
    wrong = next((n for n in given if not n.startswith(_STORAGE) or n == _STORAGE), None)
    if wrong is not None:
        raise refuse_option("delta", wrong, f"path, upsert and {_STORAGE}NAME")
    storage = {name.removeprefix(_STORAGE): value for name, value in given.items()}
    return DeltaSink(place if "://" in place else str(Path(place).absolute()), storage, keys)


DELTA = SinkKind(
    "delta",
    "rows of a Delta table, appended, or replaced by key",
    _make,
    "path, upsert, storage.NAME",
)
