"""Groups of all matches at once: every moment's updates are what evaluation until then gives."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.mappings.catalog import Catalog
from ontoweir.project import load_project
from ontoweir.rewriter.parse_sql import parse_sql
from ontoweir.runtime.group_naively import group_naively
from ontoweir.runtime.render_results import result_schema

TOML = """
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
columns = { g = "int", x = "decimal(5,1)" }
"""
SQL = (
    "SELECT g, COUNT(*) AS n, SUM(x) AS total, AVG(x) AS mean, MIN(x) AS low, MAX(x) AS high, "
    "MEDIAN(x) AS middle, COUNT(DISTINCT x) AS kinds FROM s GROUP BY g"
)
START = datetime(2014, 8, 1, tzinfo=UTC)
rows = st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(-20, 20), st.integers(1, 3))


def load(folder: Path) -> Catalog:
    (folder / "ontoweir.toml").write_text(TOML)
    return load_project(folder, environ={}).catalog


def middle(values: list[Decimal]) -> float:
    ordered = sorted(values)
    return float((ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2)


@given(found=st.lists(rows, max_size=12))
def test_updates(
    found: list[tuple[int, int, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    catalog = load(tmp_path_factory.mktemp("groups"))
    union = parse_sql(SQL, catalog, name="q", file="q.sql")
    schema = result_schema(union, catalog)
    names = [n for n in schema.names if n not in ("at", "multiplicity")]
    matches = pa.Table.from_pylist(
        [
            dict(zip(names, (g, Decimal(x) / 10), strict=True))
            | {"at": START + timedelta(seconds=t), "multiplicity": n}
            for t, g, x, n in found
        ],
        schema=schema,
    )
    expected = []
    told: dict[int, tuple[object, ...]] = {}
    for t in sorted({t for t, *_ in found}):
        for g in sorted({g for at, g, *_ in found if at == t}):
            values = [
                Decimal(x) / 10 for at, h, x, n in found if at <= t and h == g for _ in "." * n
            ]
            row = (
                *(len(values), sum(values), float(sum(values) / len(values)), min(values)),
                *(max(values), middle(values), len(set(values))),
            )
            if told.get(g) != row:
                told[g] = row
                expected.append((g, *row, START + timedelta(seconds=t)))
    table = group_naively(matches, union, catalog)
    assert table.schema.names == ["g", "n", "total", "mean", "low", "high", "middle", "kinds", "at"]
    shown = [tuple(row.values()) for row in table.to_pylist()]
    assert [(*r[:-1], r[-1].replace(tzinfo=UTC)) for r in shown] == expected
