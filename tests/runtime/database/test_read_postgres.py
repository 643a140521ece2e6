"""Tables of PostgreSQL as Arrow tables: every value is what the server's own client says it is."""

import math
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from ontoweir.errors import DataError, Source, UsageError
from ontoweir.runtime.database import read_postgres as module
from ontoweir.runtime.database.read_postgres import find_table, open_postgres, read_postgres
from tests.postgres_server import serve_postgres

SHOWN = Source("ontoweir.toml", 7)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve_postgres() as address:
        yield address


def _make(address: str, *texts: str) -> None:
    with psycopg.connect(address) as connection:
        for text in ("DROP SCHEMA public CASCADE", "CREATE SCHEMA public", *texts):
            connection.execute(text.encode())


def _read(address: str, name: str = "t") -> pa.Table:
    with open_postgres(address, SHOWN) as opened:
        return pa.concat_tables(read_postgres(opened, find_table(opened, name, SHOWN)))


def test_values_of_all_kinds(server: str) -> None:
    _make(
        server,
        "CREATE DOMAIN cents AS numeric(12, 2)",
        "CREATE TYPE mood AS ENUM ('sad', 'glad')",
        "CREATE TABLE t (i smallint, b bigint, c cents, n numeric, d double precision, r real, o "
        'boolean, "a ""day"",\n" date, ts timestamp, tz timestamptz, x text, e mood, u uuid, j '
        "jsonb, l text[])",
        "INSERT INTO t VALUES (-7, 9223372036854775807, 1.5, 0.125, 0.1, 1.5, true, '2026-03-01', "
        "'2026-03-01 08:00:00.25', '2026-03-01 08:00+01', '', 'glad', "
        "'b9606507-c696-417f-8a03-b028146d0da4', '{\"k\": 1}', '{a,NULL}')",
        "INSERT INTO t (n, x) VALUES (-12345.5, E'two\\n\"lines\", \\\\N')",
        "INSERT INTO t (x) VALUES (NULL)",
    )
    rows = _read(server)
    assert [str(t) for t in rows.schema.types] == [
        *("int64", "int64", "decimal128(12, 2)", "decimal128(8, 3)", "double", "float", "bool"),
        *("date32[day]", "timestamp[us]", "timestamp[us, tz=UTC]", *["string"] * 5),
    ]
    first, second, third = (list(row.values()) for row in rows.to_pylist())
    assert first == [
        *(-7, 9223372036854775807, Decimal("1.50"), Decimal("0.125"), 0.1, 1.5, True),
        *(date(2026, 3, 1), datetime(2026, 3, 1, 8, 0, 0, 250_000)),
        *(datetime(2026, 3, 1, 7, tzinfo=UTC), "", "glad"),
        *("b9606507-c696-417f-8a03-b028146d0da4", '{"k": 1}', "{a,NULL}"),
    ]
    assert (second[3], second[10]) == (Decimal("-12345.500"), 'two\n"lines", \\N')
    assert third == [None] * 15


def test_as_the_client_reads_them(server: str) -> None:
    _make(
        server,
        "CREATE TABLE t (k int, n numeric, d double precision, tz timestamptz, x text)",
        "INSERT INTO t SELECT i, round(random()::numeric * 1000, i % 7), random() / 3, "
        "'2026-01-01'::timestamptz + i * interval '13.7 minutes', repeat(chr(i % 90 + 34), i % 5) "
        "FROM generate_series(1, 5000) i",
    )
    with psycopg.connect(server) as connection:
        theirs = connection.execute("SELECT * FROM t").fetchall()
    ours: list[Any] = [tuple(row.values()) for row in _read(server).to_pylist()]
    assert ours == theirs


def test_what_has_no_place_in_a_type(server: str) -> None:
    """Twins of columns that have one."""
    _make(
        server,
        "CREATE TABLE t (n numeric, w numeric, d date, ts timestamp, one text)",
        "INSERT INTO t VALUES ('NaN', 1e40, 'infinity', '0044-03-15 12:00 BC', 'a'), "
        "(2.5, 1, '2026-01-01', '2026-01-01', NULL)",
    )
    rows = _read(server).to_pydict()
    assert math.isnan(rows["n"][0])
    assert (rows["n"][1], rows["w"], rows["d"]) == (2.5, [1e40, 1], ["infinity", "2026-01-01"])
    assert rows["ts"] == ["0044-03-15 12:00:00 BC", "2026-01-01 00:00:00"]


def test_tables_without_rows_and_of_one_column(server: str) -> None:
    _make(server, "CREATE TABLE t (a int)", "CREATE TABLE o (a text)")
    assert _read(server).num_rows == 0
    assert _read(server).schema.names == ["a"]
    with psycopg.connect(server) as connection:
        connection.execute("INSERT INTO o VALUES ('x'), (NULL), ('')")
    assert _read(server, "public.o").column("a").to_pylist() == ["x", None, ""]


def test_passwords_are_not_told() -> None:
    for address in (
        "postgresql://u:hush@127.0.0.1:9/x",
        "postgresql://u@127.0.0.1:9/?password=hush",
    ):
        with pytest.raises(DataError) as caught, open_postgres(address, SHOWN):
            pass
        assert "hush" not in str(caught.value)
    with pytest.raises(DataError) as caught, open_postgres("postgresql://u:hush@h:port/x", SHOWN):
        pass
    assert "hush" not in str(caught.value)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError) as caught, open_postgres("postgresql:///x", SHOWN):
        pass
    assert "pip install 'ontoweir[postgres]'" in caught.value.fix
