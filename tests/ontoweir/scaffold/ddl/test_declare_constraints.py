"""`init --from` of a database: what it declares is declared, and said; what it declares and its
rows do not keep is said only."""

import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.ontoweir.conftest import Run

LITE = """
CREATE TABLE customers (nr INTEGER PRIMARY KEY, name TEXT NOT NULL,
  grade TEXT CHECK (grade IN ('gold', 'silver', 'none')));
CREATE TABLE [buyers of] (code TEXT PRIMARY KEY NOT NULL, customer INTEGER REFERENCES customers)
  WITHOUT ROWID;
CREATE TABLE places (place TEXT PRIMARY KEY, x REAL);
CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, who INTEGER NOT NULL
  REFERENCES customers(nr), buyer TEXT REFERENCES [buyers of] (code), placed_at TEXT NOT NULL,
  pieces INTEGER CHECK (pieces BETWEEN 1 AND 20), state TEXT CHECK (state IN ('new', 'paid')),
  total REAL, lost INTEGER REFERENCES customers(nr), grade INTEGER CHECK (grade <= 9));
CREATE TABLE lines (order_id INTEGER REFERENCES orders(id), seen TEXT NOT NULL, x REAL,
  PRIMARY KEY (order_id, seen));
CREATE UNIQUE INDEX of_some ON orders (total) WHERE state = 'new';
"""


def _order(n: int) -> tuple[object, ...]:
    """The first columns of an order."""
    return n + 1, n % 9, f"b{n % 19}", f"2026-03-01 00:{n // 2:02}:00"


def _shop(file: Path, sql: str = LITE) -> Path:
    with closing(sqlite3.connect(file)) as made:
        made.executescript(sql)
        made.execute("PRAGMA ignore_check_constraints = 1")
        names = [(n, f"c{n}", "gold" if n % 2 else "none") for n in range(9)]
        made.executemany("INSERT INTO customers VALUES (?, ?, ?)", names)
        buyers = [(f"b{n}", n % 9) for n in range(19)]
        made.executemany("INSERT INTO [buyers of] VALUES (?, ?)", buyers)
        made.executemany("INSERT INTO places VALUES (?, ?)", [(None, 1.5), ("a", 2.5)])
        orders = [
            (*_order(n), n % 19 + 1, ("paid", "new")[n % 2], n / 3, n % 12, n % 11)
            for n in range(100)
        ]
        made.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", orders)
        lines = [(n // 2 + 1, f"2026-03-01 00:{n // 2:02}:0{n % 2}", n / 7) for n in range(100)]
        made.executemany("INSERT INTO lines VALUES (?, ?, ?)", lines)
        made.commit()
    return file


def _init(run: Run, folder: Path, file: Path) -> tuple[str, dict[str, Any]]:
    ran = run("init", folder / "p", "--from", file)
    assert ran.code == 0, ran.err
    assert run("check", folder / "p", "--data", "-q", "--fail-on", "undecided").code == 0
    text = (folder / "p" / "ontoweir.toml").read_text()
    return text, tomllib.loads(text)


def test_of_sqlite(run: Run, tmp_path: Path) -> None:
    text, held = _init(run, tmp_path, _shop(tmp_path / "shop.db"))
    orders, lines = held["streams"]["orders"], held["streams"]["lines"]
    assert orders["references"] == [
        {"columns": ["buyer"], "relation": "buyers_of", "to": ["code"]},
        {"columns": ["who"], "relation": "customers", "to": ["nr"]},
    ]
    assert ["id", "placed_at"] in orders["keys"]
    assert lines["keys"] == [["order_id", "seen"]]  # and not the time alone, as it was seen
    assert orders["columns"]["pieces"] == {"type": "int", "min": 1, "max": 20}
    assert orders["columns"]["state"] == {"type": "string", "enum": ["new", "paid"]}
    customers, buyers = held["relations"]["customers"], held["relations"]["buyers_of"]
    assert customers["keys"] == [["nr"]]
    assert customers["columns"]["grade"]["enum"] == ["gold", "silver", "none"]
    assert buyers["references"] == [
        {"columns": ["customer"], "relation": "customers", "to": ["nr"]}
    ]
    assert 'to = ["nr"] }] # declared by the database\n' in text
    assert "# declared by the database to be never NULL: id, who.\n" in text


def test_what_is_not_true_of_the_rows_is_told_only(run: Run, tmp_path: Path) -> None:
    """SQLite keeps no reference unless it is told to, and a key may be NULL."""
    text, held = _init(run, tmp_path, _shop(tmp_path / "shop.db"))
    orders = held["streams"]["orders"]
    assert (
        "# declared by the database, but not true of 24 rows: lost refers to customers.\n" in text
    )
    assert "lost" not in {c for r in orders["references"] for c in r["columns"]}
    assert "not true of 9 rows: the values of grade.\n" in text
    assert orders["columns"]["grade"] == "int"
    assert "refers to orders, which is a stream" in text
    assert "keys" not in held["relations"]["places"]
    assert ["total", "placed_at"] not in orders["keys"]  # unique where the state is new


@pytest.mark.parametrize("shuffled", [True, False])
def test_what_others_refer_to_in_no_order_of_its_time(
    run: Run, tmp_path: Path, shuffled: bool
) -> None:
    with closing(sqlite3.connect(tmp_path / "ward.db")) as made:
        made.executescript(
            "CREATE TABLE patient (pid TEXT PRIMARY KEY NOT NULL, admitted TEXT);"
            "CREATE TABLE vital (patient TEXT NOT NULL REFERENCES patient (pid), taken_at TEXT,"
            "kind TEXT CHECK (kind IN ('pulse', 'spo2')), value REAL)"
        )
        days = [n * 7 % 27 + 1 if shuffled else n % 27 + 1 for n in range(27)]
        patients = [(f"p{n}", f"2026-02-{day:02} 10:00") for n, day in enumerate(days)]
        made.executemany("INSERT INTO patient VALUES (?, ?)", patients)
        vitals = [
            (f"p{n % 27}", f"2026-03-01 0{n // 60}:{n % 60:02}:00", ("pulse", "spo2")[n % 2], n / 7)
            for n in range(300)
        ]
        made.executemany("INSERT INTO vital VALUES (?, ?, ?, ?)", vitals)
        made.commit()
    text, held = _init(run, tmp_path, tmp_path / "ward.db")
    assert ("patient" in held.get("relations", {})) == shuffled
    assert ("its rows are in no order of admitted" in text) == shuffled
    assert ("with --static patient." in text) != shuffled
    assert ("references" in held["streams"]["vital"]) == shuffled
    assert 'enum = ["pulse", "spo2"] } # declared by the database\n' in text


def test_twin_without_declarations(run: Run, tmp_path: Path) -> None:
    plain = "".join(
        f"CREATE TABLE {name};"
        for name in (
            "customers (nr INTEGER, name TEXT, grade TEXT)",
            "[buyers of] (code TEXT, customer INTEGER)",
            "places (place TEXT, x REAL)",
            "orders (id, who, buyer, placed_at, pieces, state, total, lost, grade)",
            "lines (order_id INTEGER, seen TEXT, x REAL)",
        )
    )
    text, held = _init(run, tmp_path, _shop(tmp_path / "shop.db", plain))
    assert "declared by the database" not in text
    assert held["streams"]["orders"]["columns"]["pieces"] == "int"


def test_of_duckdb(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "plant.duckdb"
    with duckdb.connect(str(file)) as made:
        made.execute("CREATE TABLE sensors (id INTEGER PRIMARY KEY, kind ENUM ('hall', 'lab'))")
        made.execute(
            "CREATE TABLE readings (station INTEGER NOT NULL REFERENCES sensors (id), ts TIMESTAMP "
            "NOT NULL, v DOUBLE, n INTEGER CHECK (n BETWEEN 1 AND 5), UNIQUE (station, ts))"
        )
        made.execute("INSERT INTO sensors SELECT i, 'hall' FROM range(5) t(i)")
        made.execute(
            "INSERT INTO readings SELECT i % 5, TIMESTAMP '2026-01-01' + INTERVAL (i // 5) MINUTE, "
            "i * 0.1, i % 4 + 1 FROM range(200) t(i)"
        )
    text, held = _init(run, tmp_path, file)
    stream = held["streams"]["readings"]
    assert stream["keys"] == [["station", "ts"]]
    assert stream["references"][0]["to"] == ["id"]
    assert stream["columns"]["n"] == {"type": "int", "min": 1, "max": 5}
    assert held["relations"]["sensors"]["columns"]["kind"]["enum"] == ["hall", "lab"]
    assert 'keys = [["station", "ts"]] # declared by the database\n' in text


@pytest.mark.parametrize("added", [True, False])
def test_of_a_dump(run: Run, tmp_path: Path, added: bool) -> None:
    """Keys and references are added after the tables, as PostgreSQL's dumps have them."""
    more = """
ALTER TABLE ONLY public.sensors ADD CONSTRAINT sensors_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.readings ADD CONSTRAINT to_sensor
    FOREIGN KEY (sensor) REFERENCES public.sensors(id) ON DELETE CASCADE;
CREATE UNIQUE INDEX once ON public.readings USING btree (sensor, seen);
CREATE UNIQUE INDEX hot ON public.readings USING btree (celsius) WHERE (celsius > 90);
"""
    (tmp_path / "dump.sql").write_text(f"""
\\restrict abc;
SET statement_timeout = 0;
CREATE TYPE public.kind AS ENUM ('hall', 'lab');
CREATE TABLE public.sensors (id integer NOT NULL, kind public.kind, room character varying(9),
    CONSTRAINT rooms CHECK (((room)::text = ANY ((ARRAY['a'::character varying,
    'b'::character varying])::text[]))));
ALTER TABLE public.sensors OWNER TO someone;
CREATE TABLE public.readings (sensor integer, seen timestamp without time zone NOT NULL,
    celsius integer, CONSTRAINT ends CHECK (((celsius >= '-9'::integer) AND (celsius <= 99))),
    share numeric(5,2) CHECK (((share >= (0)::numeric) AND (share <= (100)::numeric))));
COPY public.sensors (id, kind, room) FROM stdin;
1\thall\ta; CREATE TABLE x (a INT)
\\.
{more if added else ""}""")
    ran = run("init", tmp_path / "p", "--from", tmp_path / "dump.sql")
    assert ran.code == 0, ran.err
    held = tomllib.loads((tmp_path / "p" / "ontoweir.toml").read_text())
    assert [*held["relations"]] == ["sensors"]
    columns = held["relations"]["sensors"]["columns"]
    assert columns["kind"] == {"type": "string", "enum": ["hall", "lab"]}
    assert columns["room"] == {"type": "string", "enum": ["a", "b"]}
    stream = held["streams"]["readings"]
    assert stream["columns"]["celsius"] == {"type": "int", "min": -9, "max": 99}
    assert stream["columns"]["share"] == {"type": "decimal(5,2)", "min": 0, "max": 100}
    assert stream.get("keys") == ([["sensor", "seen"]] if added else None)
    assert ("references" in stream) == added
