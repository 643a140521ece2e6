"""Answers as rows of a table of PostgreSQL: one for each key, replaced by later ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.runtime.live.output.sinks.sink import MessageSink, SinkKind, tell_gone

if TYPE_CHECKING:
    import psycopg
    import pyarrow as pa
    from psycopg.sql import Composable, Composed
    from pyspark.sql import SparkSession

_BATCHES = "ontoweir_batches"
"""The table that says, of each table, which micro-batch was the last."""
_LONGEST = 63
"""So many bytes of a name PostgreSQL keeps."""
_SECONDS = 10


@dataclass(frozen=True)
class PostgresSink(MessageSink):
    """The rows that hold, in a table for each query: `table`, in which {query} is its name. A
    micro-batch is one transaction, which notes its number: so each is taken once."""

    irrevocable: ClassVar[bool] = True
    dsn: str
    table: str = "{query}"
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    def describe(self, query: str) -> str:
        """The table."""
        return f"the table {'.'.join(self._name(query))} of PostgreSQL"

    def redact(self, text: str) -> str:
        """A message without the login."""
        from psycopg.conninfo import conninfo_to_dict

        password = conninfo_to_dict(self.dsn).get("password")
        for secret in (self.dsn, password):
            text = text.replace(str(secret), "***") if secret else text
        return text

    def begin(self, query: str) -> None:
        """Refuse a table with rows: of a new run nothing is there.

        Raises:
            UsageError: there are some; or the table has the name of another query's, or too long a
                one.
            RunError: the server cannot be reached.
        """
        import psycopg
        from psycopg.sql import SQL

        name = self._name(query)
        if any(len(part.encode()) > _LONGEST for part in name):
            raise UsageError(
                f"{'.'.join(name)} is too long for the name of a table",
                why=f"PostgreSQL keeps {_LONGEST} bytes of it, which others may share",
                fix="add --sink-option table=NAME",
                source=Source("--sink-option"),
            )
        if any(other != query and self._name(other) == name for other in self.keys):
            raise UsageError(
                f"the table {'.'.join(name)} would have the answers of several queries",
                why="their keys are not the same",
                fix="write {query} in the option table, which stands for the query's name",
                source=Source("--sink-option"),
            )
        try:
            with self._connect() as server:
                there = self._is_there(server, query)
                if there and self._one(server, SQL("SELECT 1 FROM {} LIMIT 1"), query) is not None:
                    raise UsageError(
                        f"{self.describe(query)} has rows",
                        why="the checkpoint is new, and rows that it does not know would stay",
                        fix="name another table, or empty this one",
                        source=Source("--sink-option"),
                    )
                _note_batches(server)
                server.execute(
                    f"DELETE FROM {_BATCHES} WHERE target = %s", [self._quote(query).as_string()]
                )
        except psycopg.Error as error:
            raise self._failed(query, error, "nothing has been sent yet") from error

    def publish(
        self, query: str, batch: int, answers: "pa.Table", spark: "SparkSession | None"
    ) -> None:
        """Put what has changed into the table."""
        import psycopg

        try:
            with self._connect() as server:
                last = self._take(server, query, batch)
                if last is None:
                    return
                if last >= 0 and not self._is_there(server, query):
                    tell_gone(self.describe(query), holds=True)
                self._change(server, query, answers)
        except psycopg.Error as error:
            why = "they are committed, but not where they belong yet"
            raise self._failed(query, error, why) from error

    def _take(self, server: "psycopg.Connection[Any]", query: str, batch: int) -> int | None:
        """The last micro-batch before this one, which is taken with this transaction (-1: there is
        none); None: this one has been taken."""
        _note_batches(server)
        target = self._quote(query).as_string()
        server.execute(f"INSERT INTO {_BATCHES} VALUES (%s, -1) ON CONFLICT DO NOTHING", [target])
        found = server.execute(
            f"SELECT batch FROM {_BATCHES} WHERE target = %s FOR UPDATE", [target]
        ).fetchone()
        assert found is not None
        if found[0] >= batch:
            return None
        server.execute(f"UPDATE {_BATCHES} SET batch = %s WHERE target = %s", [batch, target])
        return int(found[0])

    def _change(self, server: "psycopg.Connection[Any]", query: str, answers: "pa.Table") -> None:
        from psycopg.sql import SQL, Identifier, Placeholder

        from ontoweir.runtime.live.output.upserts.reduce_changes import reduce_changes

        key, changed = self.keys[query], reduce_changes(answers, self.keys[query])
        names = changed.rows.column_names
        if not self._is_there(server, query):
            server.execute(_create_table(self._quote(query), changed.rows.schema, key))
        table = Identifier(*map(_doubled, self._name(query)))
        comma, places = SQL(", "), {name: f"c{number}" for number, name in enumerate(names)}
        insert = SQL("INSERT INTO {} ({}) VALUES ({})").format(
            table, comma.join(map(_column, names)), comma.join(map(Placeholder, places.values()))
        )
        rest = [name for name in names if name not in key]
        to_set = (_equals(n, SQL("EXCLUDED.{}").format(_column(n))) for n in rest)
        upsert = insert + SQL(" ON CONFLICT ({}) DO UPDATE SET {}").format(
            comma.join(map(_column, key)), comma.join(to_set)
        )
        whole: list[dict[str, object]] = []
        for row, holds in zip(changed.rows.to_pylist(), changed.holds.to_pylist(), strict=True):
            sent = {places[name]: _aware(value) for name, value in row.items()}
            null = {name for name in key if row[name] is None}
            if holds and key and not null:
                whole.append(sent)
                continue
            # NULL is no conflict: the row before is looked for
            tests = [_is_null(n) if n in null else _equals(n, Placeholder(places[n])) for n in key]
            where = SQL(" WHERE {}").format(SQL(" AND ").join(tests)) if tests else SQL("")
            server.execute(SQL("DELETE FROM {}{}").format(table, where), sent)
            if holds:
                server.execute(insert, sent)
        if whole:
            with server.cursor() as cursor:
                cursor.executemany(upsert, whole)

    def _connect(self) -> "psycopg.Connection[Any]":
        import psycopg

        return psycopg.connect(self.dsn, connect_timeout=_SECONDS, application_name="ontoweir")

    def _name(self, query: str) -> tuple[str, ...]:
        return tuple(part.replace("{query}", query) for part in self.table.split("."))

    def _quote(self, query: str) -> "Composable":
        from psycopg.sql import Identifier

        return Identifier(*self._name(query))

    def _is_there(self, server: "psycopg.Connection[Any]", query: str) -> bool:
        name = self._quote(query).as_string()
        found = server.execute("SELECT to_regclass(%s)", [name]).fetchone()
        return found is not None and found[0] is not None

    def _one(self, server: "psycopg.Connection[Any]", text: Any, query: str) -> object:
        return server.execute(text.format(self._quote(query))).fetchone()

    def _failed(self, query: str, error: Exception, why: str) -> RunError:
        first = next((x.strip() for x in str(error).splitlines() if x.strip()), "")[:300]
        fix = "check the server and the options of the sink, and start again"
        if "unique or exclusion constraint" in first:
            named = ", ".join(f'"{name}"' for name in self.keys.get(query, ()))
            fix = f"create a unique index over ({named}), and start again"
        said = f"answers cannot be sent to {self.describe(query)}: {first}"
        return RunError(self.redact(said), why=why, fix=fix)


def _note_batches(server: "psycopg.Connection[Any]") -> None:
    server.execute(
        f"CREATE TABLE IF NOT EXISTS {_BATCHES} (target text PRIMARY KEY, batch bigint NOT NULL)"
    )


def _create_table(table: "Composable", schema: "pa.Schema", key: Sequence[str]) -> "Composed":
    from psycopg.sql import SQL, Identifier

    parts = [SQL("{} {}").format(Identifier(f.name), SQL(_type(f.type))) for f in schema]
    if key:
        parts.append(SQL("UNIQUE ({})").format(SQL(", ").join(map(Identifier, key))))
    return SQL("CREATE TABLE {} ({})").format(table, SQL(", ").join(parts))


def _type(kind: "pa.DataType") -> str:
    import pyarrow as pa

    tests = (
        (pa.types.is_integer, "bigint"),
        (pa.types.is_decimal, "numeric"),
        (pa.types.is_floating, "double precision"),
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_date, "date"),
        (pa.types.is_timestamp, "timestamptz"),
    )
    return next((name for is_such, name in tests if is_such(kind)), "text")


def _equals(name: str, value: "Composable") -> "Composed":
    from psycopg.sql import SQL

    return SQL("{} = {}").format(_column(name), value)


def _is_null(name: str) -> "Composed":
    from psycopg.sql import SQL

    return SQL("{} IS NULL").format(_column(name))


def _column(name: str) -> "Composable":
    """A column in a statement with parameters."""
    from psycopg.sql import Identifier

    return Identifier(_doubled(name))


def _doubled(name: str) -> str:
    return name.replace("%", "%%")


def _aware(value: object) -> object:
    """All times are UTC."""
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and not value.tzinfo else value


def _make(folder: Path, options: Mapping[str, str]) -> PostgresSink:
    if find_spec("psycopg") is None:
        raise UsageError(
            "the sink postgres needs psycopg, which is not installed",
            why="it is optional for ontoweir",
            fix="pip install 'ontoweir[postgres]', or pip install 'psycopg[binary]'",
            source=Source("--sink"),
        )
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    unknown = next((name for name in options if name not in ("dsn", "table")), None)
    if unknown is not None:
        raise UsageError(
            f"the sink postgres has no option {unknown}",
            why="it has dsn and table",
            fix="leave it out, or write it into dsn, if it is of the connection",
            source=Source("--sink-option"),
        )
    try:
        conninfo_to_dict(options["dsn"])
    except psycopg.Error:
        raise UsageError(
            "the option dsn of the sink postgres is no connection",
            why="it is an address as PostgreSQL has it",
            fix="write e.g. --sink-option dsn=postgresql://USER@HOST/DATABASE, or dsn=env:DSN",
            source=Source("--sink-option"),
        ) from None
    table = options.get("table", "{query}")
    if not all(table.split(".")) or table.count(".") > 1:
        raise UsageError(
            f"the option table of the sink postgres is {table!r}",
            why="it is the name of a table, or SCHEMA.TABLE, in which {query} is the query's name",
            fix="write e.g. --sink-option table=answers.{query}",
            source=Source("--sink-option"),
        )
    return PostgresSink(options["dsn"], table)


POSTGRES = SinkKind(
    "postgres",
    "a table of PostgreSQL, with the row of each group that holds",
    _make,
    "dsn, table",
    ("dsn",),
)
