"""`replay --final` of answers that begin and end: what holds at the end, as DuckDB has it."""

from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontoweir.runtime.told import held_rows
from ontoweir.runtime.told.held_rows import HeldRows
from tests.ontoweir.conftest import Run

TOML = """[project]
[streams.s]
source = { format = "parquet", path = "s.parquet" }
timestamp = { column = "ts", unit = "1 second" }
max_per_timestamp = 4
[streams.s.columns]
k = { type = "int", min = 0, max = 5 }
v = { type = "int", min = 0, max = 3 }
"""
LATEST = "SELECT k, v FROM s QUALIFY RANK() OVER (PARTITION BY k ORDER BY ts DESC) = 1"
QUERIES = {
    "rows": (LATEST, LATEST),
    "groups": (f"WITH l AS ({LATEST}) SELECT v, COUNT(*) AS n FROM l GROUP BY v", None),
    "above": (f"WITH l AS ({LATEST}) SELECT v FROM l WHERE v > 1", None),
}


class _List:
    def __init__(self) -> None:
        self.tables: list[pa.Table] = []

    @property
    def rows(self) -> int:
        return sum(t.num_rows for t in self.tables)

    def write(self, table: pa.Table) -> None:
        self.tables.append(table)

    def append(self, file: Path) -> None:
        raise AssertionError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    random, rows = Random(3), []
    for second in range(120):
        for _ in range(random.randint(0, 3)):
            rows.append(
                {"ts": second * 1_000_000, "k": random.randint(0, 5), "v": random.randint(0, 3)}
            )
    table = pa.Table.from_pylist(rows)
    table = table.set_column(0, "ts", table.column("ts").cast(pa.timestamp("us")))
    pq.write_table(table, tmp_path / "s.parquet")
    (tmp_path / "ontoweir.toml").write_text(TOML)
    return tmp_path


@pytest.mark.parametrize("expand", [False, True])
@pytest.mark.parametrize("name", sorted(QUERIES))
def test_what_holds_at_the_end(run: Run, project: Path, name: str, expand: bool) -> None:
    asked, other = QUERIES[name]
    (project / "q.sql").write_text(asked)
    more = ["--expand"] if expand else []
    out = project / "o.parquet"
    ran = run("replay", project, "--sql", project / "q.sql", "--output", out, "--final", *more)
    assert ran.code == 0, ran.err
    assert "changes nothing" not in ran.err
    made = pq.read_table(out)
    found = []
    for row in made.to_pylist():
        assert row.pop("op") == "+"
        row.pop("at")
        found += [tuple(row[n] for n in row if n != "multiplicity")] * row.get("multiplicity", 1)
    with duckdb.connect() as database:
        database.execute(f"CREATE VIEW s AS FROM '{project / 's.parquet'}'")
        assert sorted(found) == sorted(database.sql(other or asked).fetchall())
    assert found
    whole = run("replay", project, "--sql", project / "q.sql", "--output", project / "all.parquet")
    assert whole.code == 0
    assert pq.read_metadata(project / "all.parquet").num_rows > made.num_rows


def test_snapshots_are_refused(run: Run, project: Path) -> None:
    (project / "q.sql").write_text(LATEST)
    asked = ("replay", project, "--sql", project / "q.sql", "--output", project / "o.csv")
    ran = run(*asked, "--final", "--emit", "snapshots")
    assert (ran.code, "--final with --emit snapshots" in ran.err) == (2, True)


@pytest.mark.parametrize("fewest", [1, 5, 65_536])
def test_portions_make_no_difference(fewest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of rows that begin and end in one step, several times, and partly."""
    monkeypatch.setattr(held_rows, "_FEWEST", fewest)
    for seed in range(60):
        random, held, sink = Random(seed), dict[int | None, int](), _List()
        rows = HeldRows(sink, expand=False)
        for at in range(30):
            changes = []
            for _ in range(random.randint(0, 4)):
                value = random.choice([None, 1, 2, 3])
                ends = held.get(value, 0) > 0 and random.random() < 0.5
                often = random.randint(1, held[value]) if ends else random.randint(1, 3)
                held[value] = held.get(value, 0) + (-often if ends else often)
                changes.append(
                    {"v": value, "at": at, "op": "-" if ends else "+", "multiplicity": often}
                )
            if changes:
                rows.write(pa.Table.from_pylist(changes, _SCHEMA))
        rows.finish()
        made = [row for table in sink.tables for row in table.to_pylist()]
        assert {r["v"]: r["multiplicity"] for r in made} == {v: n for v, n in held.items() if n}
        assert len({r["v"] for r in made}) == len(made)


_SCHEMA = pa.schema(
    [("v", pa.int64()), ("at", pa.int64()), ("op", pa.string()), ("multiplicity", pa.int64())]
)
