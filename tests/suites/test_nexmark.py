"""Nexmark's queries, which nobody here wrote, over streams of this test: verdicts, and answers."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.checker.verdict.verdict import Tier
from ontoweir.cli import main
from ontoweir.errors import QueryError
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.replay_query import ReplayOptions, replay_query

LONG, TEXT, TIME = pa.int64(), pa.string(), pa.timestamp("us")
COLUMNS: dict[str, dict[str, pa.DataType]] = {
    "person": {
        "id": LONG,
        "name": TEXT,
        "emailAddress": TEXT,
        "creditCard": TEXT,
        "city": TEXT,
        "state": TEXT,
    },
    "auction": {
        "id": LONG,
        "itemName": TEXT,
        "description": TEXT,
        "initialBid": LONG,
        "reserve": LONG,
        "expires": TIME,
        "seller": LONG,
        "category": LONG,
    },
    "bid": {"auction": LONG, "bidder": LONG, "price": LONG, "channel": TEXT, "url": TEXT},
}
NAMES = {LONG: "int", TEXT: "string", TIME: "timestamp"}
START = 1_700_000_000_000
"""Milliseconds since 1970, in the evening: the history has two ends of days."""


def _project(folder: Path, random: Random) -> None:
    """Streams of two days and a half."""
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in COLUMNS}
    now = START
    for _ in range(4000):
        now += random.choice([0, 0, 1, 3, 400, 2_000, 9_000, 500_000])
        name = random.choices(list(COLUMNS), [1, 2, 17])[0]
        row: dict[str, object] = {"dateTime": now * 1000, "extra": "x" * random.randint(0, 2)}
        for column, kind in COLUMNS[name].items():
            row[column] = random.choice(["apple", "google", "x", "OR"])
            if kind == LONG:
                row[column] = random.randint(0, 2_000_000 if column == "price" else 40)
            if kind == TIME:
                row[column] = (now + random.randint(1, 20_000)) * 1000
        if name == "person":
            row |= {"id": len(rows[name]), "name": f"p{len(rows[name])}"}
        rows[name].append(row)
    toml = "[project]\n"
    for name, columns in COLUMNS.items():
        kinds = {**columns, "extra": TEXT, "dateTime": TIME}
        made = {c: pa.array([r[c] for r in rows[name]], k) for c, k in kinds.items()}
        pq.write_table(pa.table(made), folder / f"{name}.parquet")
        declared = ", ".join(f'{c} = "{NAMES[k]}"' for c, k in {**columns, "extra": TEXT}.items())
        toml += f'[streams.{name}]\nsource = {{ format = "parquet", path = "{name}.parquet" }}\n'
        toml += 'timestamp = { column = "dateTime", unit = "1 millisecond" }\n'
        toml += f"columns = {{ {declared} }}\n"
    toml += '[relations.side_input]\nsource = { format = "csv", path = "side.csv" }\n'
    toml += 'columns = { key = "int", value = "string" }\n'
    (folder / "side.csv").write_text("key,value\n1,one\n")
    (folder / "ontoweir.toml").write_text(toml)


def _read(shared: Path, folder: Path, number: int) -> Path:
    """A query as it is published, without what it is inserted into."""
    text = (shared / "suites" / "nexmark" / f"q{number}.sql").read_text()
    statements = [s.strip() for s in re.sub(r"--[^\n]*", "", text).split(";")]
    (insert,) = [s for s in statements if s.upper().startswith("INSERT")]
    file = folder / f"q{number}.sql"
    file.write_text(re.sub(r"^INSERT INTO \w+\s*", "", insert, flags=re.IGNORECASE))
    return file


@pytest.fixture(scope="module")
def nexmark(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    folder = tmp_path_factory.mktemp("nexmark")
    _project(folder, Random(5))
    return lambda number: _read(shared, folder, number)


STATELESS, UNBOUNDED = (0, 1, 2, 10, 13, 21, 22), (3, 4, 18, 19, 20, 23)
WINDOWS = (5, 7, 8, 11, 15, 16, 17)
REFUSED = {
    6: "unknown alias",
    9: "the first rows of",
    12: "unknown table 'B'",
    14: "count_char",
}


@pytest.mark.parametrize("number", range(24))
def test_verdicts(number: int, nexmark: Callable[[int], Path]) -> None:
    """What is refused is so by name; what is unbounded has a counterexample."""
    file = nexmark(number)
    workspace = Workspace(load_project(file.parent, environ={}))
    if number in REFUSED:
        with pytest.raises(QueryError, match=REFUSED[number]):
            workspace.compile_sql(file)
        return
    verdict = workspace.check(workspace.compile_sql(file))
    if number in UNBOUNDED:
        assert verdict.tier is Tier.UNBOUNDED
        assert verdict.witness is not None
        return
    assert verdict.tier is (Tier.STATELESS if number in STATELESS else Tier.WINDOW_BOUNDED)


@pytest.mark.parametrize("number", range(24))
def test_scripts_as_they_are_published(
    number: int, nexmark: Callable[[int], Path], shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`check` of the file, with its tables, views and INSERT INTO, says the same of its query."""
    catalog = nexmark(number).parent / "ontoweir.toml"
    script = shared / "suites" / "nexmark" / f"q{number}.sql"
    code = main(["check", str(script), "--catalog", str(catalog), "--format", "json"])
    said = {q["query"]: q["verdict"] for q in json.loads(capsys.readouterr().out)}
    assert code == (2 if number in REFUSED else 0)
    name = next(name for name in said if name.startswith("nexmark_q"))
    wanted = "refused" if number in REFUSED else "unbounded" if number in UNBOUNDED else "bounded"
    assert said[name].endswith(wanted)


COUNTS = """count(*) AS total_bids, count(*) FILTER (WHERE price < 10000) AS rank1_bids,
    count(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
    count(*) FILTER (WHERE price >= 1000000) AS rank3_bids"""
DISTINCT = ", ".join(
    f"count(DISTINCT {column}) {where} AS {name}_{plural}"
    for column, plural in (("bidder", "bidders"), ("auction", "auctions"))
    for name, where in (
        ("total", ""),
        ("rank1", "FILTER (WHERE price < 10000)"),
        ("rank2", "FILTER (WHERE price >= 10000 AND price < 1000000)"),
        ("rank3", "FILTER (WHERE price >= 1000000)"),
    )
)
LAST = "(SELECT max(dateTime) FROM bid)"
DAYS = f"(SELECT * FROM bid WHERE dateTime < date_trunc('day', {LAST}))"
DAY = "strftime(dateTime, '%Y-%m-%d') AS day"
TEN = "time_bucket(INTERVAL '10 seconds', dateTime)"
EVERY_TWO = """unnest([time_bucket(INTERVAL '2 seconds', dateTime) - i * INTERVAL '2 seconds'
    FOR i IN range(5)]) u(s)"""
BY_HAND = {
    5: f"""WITH a AS (SELECT auction, s, count(*) AS num FROM bid, {EVERY_TWO} GROUP BY ALL),
        m AS (SELECT s, max(num) AS most FROM a GROUP BY s) SELECT auction, num FROM a JOIN m
        USING (s) WHERE num >= most AND s + INTERVAL '10 seconds' <= {LAST}""",
    7: f"""SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra FROM bid b JOIN (SELECT
        max(price) AS most, {TEN} + INTERVAL '10 seconds' AS e FROM bid GROUP BY e) m ON b.price =
        most AND b.dateTime BETWEEN e - INTERVAL '10 seconds' AND e WHERE e <= {LAST}""",
    15: f"SELECT {DAY}, {COUNTS}, {DISTINCT} FROM {DAYS} GROUP BY day",
    16: f"""SELECT channel, {DAY}, max(strftime(dateTime, '%H:%M')) AS minute, {COUNTS}, {DISTINCT}
        FROM {DAYS} GROUP BY channel, day""",
    17: f"""SELECT auction, {DAY}, {COUNTS}, min(price) AS min_price, max(price) AS max_price,
        avg(price) AS avg_price, sum(price) AS sum_price FROM {DAYS} GROUP BY auction, day""",
}


@pytest.mark.parametrize("number", BY_HAND)
def test_answers_of_windows(number: int, nexmark: Callable[[int], Path]) -> None:
    """DuckDB's over the whole history, of windows that are over."""
    file = nexmark(number)
    workspace = Workspace(load_project(file.parent, environ={}))
    output = file.with_suffix(".parquet")
    replay_query(workspace, workspace.compile_sql(file), ReplayOptions(output, progress=False))
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(f"CREATE VIEW bid AS FROM '{file.parent / 'bid.parquet'}'")
    asked = BY_HAND[number]
    names = [row[0] for row in connection.execute(f"DESCRIBE {asked}").fetchall()]
    there = [row[0] for row in connection.execute(f"DESCRIBE FROM '{output}'").fetchall()]
    times = "sum(multiplicity)::BIGINT" if "multiplicity" in there else "count(*)"

    def rows(source: str, count: str) -> list[tuple[object, ...]]:
        shown = ", ".join(
            f'epoch_us("{n}"::TIMESTAMP)' if n == "dateTime" else f'"{n}"' for n in names
        )
        asked_for = f"SELECT {shown}, {count} FROM {source} GROUP BY ALL ORDER BY ALL"
        return connection.execute(asked_for).fetchall()

    wanted = rows(f"({asked})", "count(*)")
    assert wanted
    assert rows(f"'{output}'", times) == wanted
