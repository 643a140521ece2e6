"""Answers as rows of an Iceberg table, by pyiceberg: each micro-batch is one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.runtime.live.output.sinks.sink import (
    MessageSink,
    SinkKind,
    refuse_option,
    require_package,
    tell_gone,
)
from ontoweir.runtime.spark.redact_secrets import redact_secrets
from ontoweir.runtime.times.give_zone import give_zone

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table
    from pyspark.sql import SparkSession

_CATALOG = "catalog."
_BATCH, _QUERY = "ontoweir.batch", "ontoweir.query"
"""The table's properties that say which micro-batch is its last, and of which query."""
_TRIES = 5
"""Commits of others (who put files together, or expire snapshots) may come between."""


@dataclass(frozen=True)
class IcebergSink(MessageSink):
    """Rows of an Iceberg table for each query: `table`, NAMESPACE.NAME, in which {query} is its
    name, of a `catalog` with `properties`. A transaction notes the number of its micro-batch in the
    table, so each is taken once. `there`: queries whose table this process has seen."""

    irrevocable: ClassVar[bool] = True
    table: str
    catalog: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    begun: dict[str, str] = field(default_factory=dict, compare=False)
    there: set[str] = field(default_factory=set, compare=False)

    def describe(self, query: str) -> str:
        """The table."""
        return f"the Iceberg table {self._name(query)}"

    def redact(self, text: str) -> str:
        """A message without the values of properties that are secret, and without logins."""
        logins = {}
        for name, value in self.properties.items():
            login, at, _ = value.partition("://")[2].rpartition("@")
            if at and ":" in login:
                logins[f"secret {name}"] = login.partition(":")[2]
        return redact_secrets(text, {**self.properties, **logins})

    def begin(self, query: str) -> None:
        """Refuse a table with rows, or of another run: of a new one nothing is there.

        Raises:
            UsageError: that is so; or another query has the same table.
            RunError: the catalog cannot be reached, or has no such namespace.
        """
        name = self._name(query)
        if self.begun.setdefault(name, query) != query:
            raise UsageError(
                f"{self.describe(query)} would have the answers of several queries",
                why="each has columns of its own",
                fix="write {query} in the option table, which stands for the query's name",
                source=Source("--sink-option"),
            )
        try:
            catalog = self._open()
            catalog.list_tables(name.rpartition(".")[0])  # there is such a namespace
            there = catalog.load_table(name) if catalog.table_exists(name) else None
            foreign = there is not None and (_has_rows(there) or _BATCH in there.properties)
        except Exception as error:  # whatever its catalog's own client raises
            raise self._failed(query, error, "nothing has been written yet") from error
        if foreign:
            raise self._foreign(query)

    def publish(
        self, query: str, batch: int, answers: "pa.Table", spark: "SparkSession | None"
    ) -> None:
        """Append the answers in one transaction."""
        from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException

        name, rows = self._name(query), give_zone(answers)
        try:
            catalog = self._open()
            if query in self.there and not catalog.table_exists(name):
                tell_gone(self.describe(query), holds=False)
            for left in reversed(range(_TRIES)):
                table = catalog.create_table_if_not_exists(name, rows.schema)
                last = table.properties.get(_BATCH)
                owner = table.properties.get(_QUERY, query)
                if owner != query or (last is None and _has_rows(table)):
                    raise self._foreign(query)
                self.there.add(query)
                if last is not None and int(last) >= batch:
                    return
                try:
                    with table.transaction() as transaction:
                        transaction.append(rows, {_BATCH: str(batch)})
                        transaction.set_properties({_BATCH: str(batch), _QUERY: query})
                    return
                except (CommitFailedException, CommitStateUnknownException):
                    if not left:  # what the table says is looked at before another try
                        raise
        except UsageError:
            raise
        except Exception as error:  # whatever its catalog's own client raises
            why = "they are committed, but not where they belong yet"
            raise self._failed(query, error, why) from error

    def _open(self) -> "Catalog":
        from pyiceberg.catalog import load_catalog

        return load_catalog(self.catalog, **self.properties)

    def _name(self, query: str) -> str:
        return self.table.replace("{query}", query)

    def _foreign(self, query: str) -> UsageError:
        return UsageError(
            f"{self.describe(query)} is of another run, or of another query",
            why="the checkpoint does not know its rows, which would stay beside those of this run",
            fix="name another table, or drop this one; one without rows, made with the partitions "
            "that it shall have, may be there",
            source=Source("--sink-option"),
        )

    def _failed(self, query: str, error: Exception, why: str) -> RunError:
        said = next((x.strip() for x in str(error).splitlines() if x.strip()), "it fails")[:300]
        return RunError(
            self.redact(f"answers cannot be written to {self.describe(query)}: {said}"),
            why=why,
            fix="check the catalog, the table and the options of the sink, and start again: they "
            "are written then",
        )


def _has_rows(table: "Table") -> bool:
    """Whether there is any snapshot: without one, a table has had no rows yet."""
    return table.current_snapshot() is not None


def _make(folder: Path, options: Mapping[str, str]) -> IcebergSink:
    require_package("iceberg", "pyiceberg", "pyiceberg")
    given = dict(options)
    if "upsert" in given:
        raise UsageError(
            "the sink iceberg has no option upsert",
            why="it appends answers, as files do; where they change they have the column op",
            fix="leave it out, or name a sink that replaces rows by key: --sink delta with "
            "upsert=true, postgres, or table",
            source=Source("--sink-option"),
        )
    table, catalog = given.pop("table"), given.pop("catalog", None)
    wrong = next((n for n in given if not n.startswith(_CATALOG) or n == _CATALOG), None)
    if wrong is not None:
        raise refuse_option("iceberg", wrong, f"table, catalog and {_CATALOG}NAME")
    if not all(table.split(".")) or "." not in table:
        raise UsageError(
            f"the option table of the sink iceberg is {table!r}",
            why="it is NAMESPACE.NAME, in which {query} is the query's name",
            fix="write e.g. --sink-option table=answers.{query}",
            source=Source("--sink-option"),
        )
    properties = {name.removeprefix(_CATALOG): value for name, value in given.items()}
    return IcebergSink(table, catalog, properties)


ICEBERG = SinkKind(
    "iceberg",
    "rows of an Iceberg table, appended",
    _make,
    "table, catalog, catalog.NAME",
    ("table",),
)
