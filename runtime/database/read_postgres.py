"""Read tables of PostgreSQL as Arrow tables, of which each column has one type."""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.csv as pcsv

from ontoweir.errors import DataError, Source, UsageError

if TYPE_CHECKING:
    import psycopg
    from psycopg.sql import Composable

    Server: TypeAlias = "psycopg.Connection[Any]"

_SECONDS = 10
"""For which a server may be silent when it is asked for a connection."""
_WIDEST = 38
"""Digits of a decimal."""
_TYPES: Mapping[str, pa.DataType] = {
    **dict.fromkeys(("int2", "int4", "int8", "oid"), pa.int64()),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
}
"""By the name of a type; all others but `numeric` are texts, as the server writes them."""
_ENDS = {
    "date": ("0001-01-01", "9999-12-31"),
    "timestamp": ("0001-01-01", "9999-12-31 23:59:59.999999"),
    "timestamptz": ("0001-01-01 00:00Z", "9999-12-31 23:59:59.999999Z"),
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A column: its name, the name of its type, and of a number with a point its digits, as far as
    they are declared."""

    name: str
    kind: str
    precision: int | None
    scale: int | None


@contextmanager
def open_postgres(address: str, shown: Source) -> "Iterator[Server]":
    """A connection that only reads, and sees one state of all tables; times are UTC.

    Args:
        address: `postgresql://…`, as libpq has it. What is not in it, such as a password, libpq
            takes from the variables of the environment, such as PGPASSWORD, and from ~/.pgpass.
        shown: what errors say where it is written.

    Raises:
        UsageError: psycopg is not installed.
        DataError: the server is not there, or refuses; or it ends the connection.
    """
    if find_spec("psycopg") is None:
        raise UsageError(
            "a table of PostgreSQL needs psycopg, which is not installed",
            why="it is optional for ontoweir",
            fix="pip install 'ontoweir[postgres]', or pip install 'psycopg[binary]'",
            source=shown,
        )
    import psycopg

    try:
        with psycopg.connect(
            address, connect_timeout=_SECONDS, application_name="ontoweir", client_encoding="UTF8"
        ) as server:
            server.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            server.read_only = True
            server.execute("SET TimeZone = 'UTC'")
            server.execute("SET DateStyle = 'ISO, YMD'")
            server.execute("SET extra_float_digits = 1")
            yield server
    except psycopg.Error as error:
        raise DataError(
            f"PostgreSQL cannot be read: {_tell(error, address)}",
            why="its tables are asked for by this connection",
            fix="correct the address, or start the server; a password may be in PGPASSWORD, or in "
            "~/.pgpass",
            source=shown,
        ) from None


def _tell(error: Exception, address: str) -> str:
    """The first line of an error, without what is secret in the address."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    said = next((x.strip() for x in str(error).splitlines() if x.strip()), "no reason is given")
    try:
        secret = conninfo_to_dict(address).get("password")
    except psycopg.Error:
        return "the address is none of PostgreSQL's"
    for one in (address, secret):
        said = said.replace(str(one), "***") if one else said
    return said[:300]


def find_table(server: "Server", name: str, shown: Source) -> "Composable":
    """A table by its name, or SCHEMA.NAME; without a schema it is looked for as the server does.

    Raises:
        DataError: there is none.
    """
    from psycopg.sql import Identifier

    found = Identifier(*name.split("."))
    known = server.execute("SELECT to_regclass(%s)", [found.as_string()]).fetchone()
    if known is None or known[0] is None:
        raise DataError(
            f"the database has no table {name}",
            why="the option table names it, or SCHEMA.TABLE; without that it is called as the "
            "relation is",
            fix='write options = { table = "SCHEMA.TABLE" }, with the case that the database has',
            source=shown,
        )
    return found


def read_postgres(
    server: "Server", table: "Composable", names: Sequence[str] | None = None
) -> Iterator[pa.Table]:
    """The rows of a table, some at a time; first of all one without rows, which has the columns.

    Whole numbers, doubles, booleans, dates and times have these types; `numeric` is a decimal of
    as many digits as its values need. Where it is not finite, or has more than 38 digits, it is a
    double; where a date or time is infinite, or not in the years 1 to 9999, its column is text.

    Args:
        server: the connection.
        table: its name, quoted.
        names: the columns wanted (None: all).

    Raises:
        psycopg.Error: the server cannot give them.
    """
    from psycopg.sql import SQL, Identifier

    asked = _list_columns(server, table, names)
    types = _find_types(server, table, asked)
    schema = pa.schema(types.items())
    yield schema.empty_table()
    listed = SQL(", ").join(Identifier(name) for name in types)
    rows = SQL("COPY (SELECT {} FROM {}) TO STDOUT (FORMAT csv, HEADER)").format(listed, table)
    if not types:
        return
    with server.cursor() as cursor, cursor.copy(rows) as copied:
        reader = pcsv.open_csv(
            io.BufferedReader(_Sent(copied), 1 << 20),
            parse_options=pcsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            convert_options=pcsv.ConvertOptions(
                column_types=schema,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                true_values=["t"],
                false_values=["f"],
            ),
        )
        for batch in reader:
            yield pa.Table.from_batches([batch])


class _Sent(io.RawIOBase):
    """What a server sends, as a file."""

    def __init__(self, copied: Any) -> None:
        self._copied, self._held = copied, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        if not self._held:
            self._held = memoryview(self._copied.read())
        size = min(len(into), len(self._held))
        into[:size] = self._held[:size]
        self._held = self._held[size:]
        return size


def _list_columns(
    server: "Server", table: "Composable", names: Sequence[str] | None
) -> list[_Asked]:
    """The columns of a table; a domain's type is the one that it is made of."""
    from psycopg.sql import SQL

    described = server.execute(SQL("SELECT * FROM {} LIMIT 0").format(table)).description
    found = []
    for column in described or ():
        if names is not None and column.name not in names:
            continue
        info = server.adapters.types.get(column.type_code)
        kind = "" if info is None or info.array_oid == column.type_code else info.name
        found.append(_Asked(column.name, kind, column.precision, column.scale))
    return found


def _find_types(
    server: "Server", table: "Composable", asked: Sequence[_Asked]
) -> dict[str, pa.DataType]:
    """The type of each column, as its values need it, which one query finds out."""
    from psycopg.sql import SQL, Identifier, Literal

    parts: list[Composable] = []
    for one in asked:
        name = Identifier(one.name)
        if one.kind == "numeric":
            parts += [
                SQL("bool_or({0}::text IN ('NaN', 'Infinity', '-Infinity'))").format(name),
                SQL("max(scale({0}))").format(name),
                SQL("max(length(trunc(abs({0}))::text))").format(name),
            ]
        elif one.kind in _ENDS:
            low, high = map(Literal, _ENDS[one.kind])
            parts.append(SQL("min({0}) < {1} OR max({0}) > {2}").format(name, low, high))
    answer: Iterator[Any] = iter(())
    if parts:
        text = SQL("SELECT {} FROM {}").format(SQL(", ").join(parts), table)
        answer = iter(server.execute(text).fetchone() or ())
    types = {}
    for one in asked:
        if one.kind == "numeric":
            types[one.name] = _number(one, *(next(answer) for _ in range(3)))
        elif one.kind in _ENDS:
            types[one.name] = pa.string() if next(answer) else _TYPES[one.kind]
        else:
            types[one.name] = _TYPES.get(one.kind, pa.string())
    return types


def _number(
    column: _Asked, infinite: bool | None, scale: int | None, digits: int | None
) -> pa.DataType:
    if infinite:
        return pa.float64()
    if (
        column.precision is not None
        and column.scale is not None
        and 0 <= column.scale <= column.precision <= _WIDEST
    ):
        return pa.decimal128(column.precision, column.scale)
    scale, digits = scale or 0, digits or 1
    return pa.float64() if scale + digits > _WIDEST else pa.decimal128(scale + digits, scale)
