"""`ontoweir init --from postgresql://…`, and relations of a server, with one of our own."""

import sqlite3
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.ontoweir.conftest import Run
from tests.postgres_server import serve_postgres

SHOP = """
CREATE SCHEMA shop; CREATE SCHEMA lab; CREATE SCHEMA secret;
CREATE TYPE shop.state AS ENUM ('new', 'paid', 'gone');
CREATE DOMAIN shop.grade AS int CHECK (VALUE BETWEEN 1 AND 6);
CREATE TABLE shop.customers (id int PRIMARY KEY, name text NOT NULL, country varchar(2)
    CHECK (country IN ('DE', 'FR')));
CREATE TABLE shop.orders (id bigserial PRIMARY KEY, customer int NOT NULL REFERENCES shop.customers,
    state shop.state NOT NULL, price numeric(8,2), grade shop.grade, placed timestamptz NOT NULL);
CREATE TABLE lab.customers (id int PRIMARY KEY, institute text);
CREATE TABLE lab.readings (device text, at timestamp, v real, PRIMARY KEY (device, at))
    PARTITION BY RANGE (at);
CREATE TABLE lab.first PARTITION OF lab.readings FOR VALUES FROM ('2026-01-01') TO ('2026-01-03');
CREATE TABLE lab.rest PARTITION OF lab.readings DEFAULT;
CREATE TABLE secret.salaries (id int, since timestamptz);
INSERT INTO shop.customers SELECT i, 'c' || i, CASE WHEN i % 2 = 0 THEN 'DE' ELSE 'FR' END
    FROM generate_series(1, 9) i;
INSERT INTO shop.orders (customer, state, price, grade, placed)
    SELECT 1 + i % 9, (ARRAY['new', 'paid'])[1 + i % 2]::shop.state, i / 4.0, 1 + i % 6,
    '2026-03-01 00:00+01'::timestamptz + i * interval '7 minutes' FROM generate_series(1, 600) i;
INSERT INTO lab.customers VALUES (1, 'A');
INSERT INTO lab.readings SELECT 'd' || d, timestamp '2026-01-01' + i * interval '1 hour', i
    FROM generate_series(1, 99) i, generate_series(1, 3) d;
CREATE VIEW shop.dear AS SELECT * FROM shop.orders WHERE price > 100;
CREATE ROLE reader LOGIN;
GRANT USAGE ON SCHEMA shop, lab TO reader;
GRANT SELECT ON ALL TABLES IN SCHEMA shop, lab TO reader;
"""


DEVICES = """
CREATE SCHEMA plant;
CREATE TABLE plant.device (id int PRIMARY KEY, site varchar(3), spare jsonb);
INSERT INTO plant.device VALUES (1, 'ulm'), (2, 'bon')
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serve_postgres() as address:
        with psycopg.connect(address) as connection:
            connection.execute(SHOP.encode())
        yield address.replace("postgres:hush@", "reader:hush@")


def _catalog(project: Path) -> dict[str, Any]:
    return tomllib.loads((project / "ontoweir.toml").read_text())


def test_a_database_is_a_project(server: str, tmp_path: Path, run: Run) -> None:
    project = tmp_path / "p"
    told = run("init", project, "--from", server)
    assert told.code == 0, told.err
    assert "left out, as tables alone are copied: views shop.dear" in told.out
    assert "left out, as this user may not read them: secret.salaries" in told.out
    made = _catalog(project)
    assert {*made["streams"]} == {"orders", "readings"}
    assert {*made["relations"]} == {"shop_customers", "lab_customers"}
    orders, customers = made["streams"]["orders"], made["relations"]["shop_customers"]
    assert ["id", "placed"] in orders["keys"]
    assert orders["references"] == [
        {"columns": ["customer"], "relation": "shop_customers", "to": ["id"]}
    ]
    assert orders["columns"]["state"]["enum"] == ["new", "paid", "gone"]
    assert orders["columns"]["price"] == "decimal(8,2)"
    assert orders["columns"]["grade"] == {"type": "int", "min": 1, "max": 6}
    assert customers["keys"] == [["id"]]
    assert customers["columns"]["country"]["enum"] == ["DE", "FR"]
    assert made["streams"]["readings"]["keys"] == [["device", "at"]]
    assert run("check", project, "--data").code == 0
    asked = "SELECT COUNT(*) AS n, SUM(o.price) AS p FROM orders o, shop_customers c WHERE "
    asked += "o.customer = c.id AND c.country = 'DE' AND o.state = 'paid'"
    (project / "queries" / "dear.sql").write_text(asked)
    replayed = run("replay", project, "--query", "dear", "--output", "-", "--final")
    with psycopg.connect(server) as connection:
        shop = asked.replace("orders o", "shop.orders o").replace("shop_c", "shop.c")
        (row,) = connection.execute(shop.encode()).fetchall()
    assert replayed.out.splitlines()[1].startswith(f"{row[0]},{row[1]}"), replayed.out
    for file in project.rglob("*"):
        assert file.is_dir() or b"hush" not in file.read_bytes()


def test_some_tables(server: str, tmp_path: Path, run: Run) -> None:
    assert run("init", tmp_path / "p", "--from", f"{server}#readings,shop.dear").code == 0
    made = _catalog(tmp_path / "p")
    assert {*made["streams"]} == {"readings", "dear"}
    assert run("init", tmp_path / "q", "--from", server, "--views").code == 0
    assert {*_catalog(tmp_path / "q")["streams"]} == {"orders", "readings", "dear"}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("none", "table none is not there"),
        ("customers", "table customers is in several schemas"),
        ("secret.salaries", "table secret.salaries may not be read"),
    ],
)
def test_tables_that_are_not_to_be_had(
    server: str, tmp_path: Path, run: Run, table: str, said: str
) -> None:
    told = run("init", tmp_path / "p", "--from", f"{server}#{table}")
    assert (told.code, said in told.err, "hush" in told.err) == (2, True, False)
    assert "shop.orders" in told.err


def test_views_of_files(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "h.sqlite"
    with closing(sqlite3.connect(file)) as opened, opened:
        opened.execute("CREATE TABLE r (ts TEXT, v REAL)")
        rows = [(f"2026-01-01T{h:02}:00:00", h / 2) for h in range(24)]
        opened.executemany("INSERT INTO r VALUES (?, ?)", rows)
        opened.execute("CREATE VIEW high AS SELECT * FROM r WHERE v > 5")
    told = run("init", tmp_path / "p", "--from", file, "--views")
    assert (told.code, "views high" in told.out) == (0, False)
    assert {*_catalog(tmp_path / "p")["streams"]} == {"r", "high"}
    assert "views high" in run("init", tmp_path / "q", "--from", file).out
    assert "--views without --from" in run("init", tmp_path / "o", "--views").err


def test_a_relation_is_a_table(server: str, tmp_path: Path, run: Run) -> None:
    with psycopg.connect(server.replace("reader:hush@", "postgres@")) as connection:
        connection.execute(DEVICES.encode())
    source = 'format = "postgresql", path = "{}", options = {{ table = "plant.device" }}'
    address = server.replace("reader:hush@", "postgres@")
    catalog = f"""\
[project]
queries = ["q.sql"]
[streams.r]
source = {{ format = "csv", path = "r.csv", options = {{ header = "true" }} }}
timestamp = {{ column = "ts", unit = "1 second" }}
columns = {{ device = "int", v = "int" }}
[relations.device]
source = {{ {source.format(address)} }}
keys = [["id"]]
columns = {{ id = "int", site = {{ type = "string", enum = ["ulm", "bon"] }} }}
"""
    (tmp_path / "ontoweir.toml").write_text(catalog)
    (tmp_path / "q.sql").write_text("SELECT r.v, d.site FROM r, device d WHERE r.device = d.id")
    (tmp_path / "r.csv").write_text(
        "ts,device,v\n2026-01-01T00:00:00,2,7\n2026-01-01T00:00:01,3,8\n"
    )
    asked = ("replay", str(tmp_path), "--query", "q", "--output", "-", "--engine", "driver")
    assert run(*asked).out.splitlines()[1].startswith('7,"bon",')
    assert "device: what is declared is true of 2 rows" in run("check", str(tmp_path), "--data").out
    with psycopg.connect(address) as connection:  # it is read anew
        connection.execute("UPDATE plant.device SET site = 'x' WHERE id = 1")
    ran = run(*asked)
    assert (ran.code, "device, row 2: site is x" in ran.err) == (2, True)
    for old, new, said in (
        ("plant.device", "plant.none", "ontoweir.toml:7: the database has no table plant.none"),
        ("postgres@", "postgres:hush@", "is of PostgreSQL, with a password"),
        ("host=", "host=/nowhere", "PostgreSQL cannot be read"),
        ('{ id = "int"', '{ more = "int", id = "int"', "there is no column 'more'"),
    ):
        (tmp_path / "ontoweir.toml").write_text(catalog.replace(old, new))
        ran = run(*asked)
        assert (ran.code, "hush" in ran.err) == (2, False)
        assert said in ran.err


def test_no_stream_is_a_table(tmp_path: Path, run: Run) -> None:
    (tmp_path / "ontoweir.toml").write_text(
        '[streams.r]\nsource = { format = "postgresql", path = "postgresql:///x" }\n'
        'timestamp = { column = "ts", unit = "1 second" }\ncolumns = { v = "int" }\n'
    )
    ran = run("check", str(tmp_path))
    assert ran.code == 2
    assert "a static relation may be a table of a server" in ran.err
    assert "ontoweir init --from postgresql://" in ran.err
