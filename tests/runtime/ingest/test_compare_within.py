"""Values are looked up in static relations where nothing else says that they are there."""

from pathlib import Path

from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.rewriter.model.spj import Attribute
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.ingest.list_references import compare_within
from tests.runtime.harness import make_catalog

TOML = """
[streams.S]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
references = [
    { columns = ["a"], relation = "R", to = ["a"] },
    { columns = ["d"], relation = "R", to = ["a"] },
]
[streams.S.columns]
a = "int"
b = "int"
d = "decimal(8, 2)"
[relations.R]
source = { format = "parquet", path = "r" }
keys = [["a"]]
max_rows = 9
[relations.R.columns]
a = "int"
"""


def _within(folder: Path, sql: str) -> dict[Attribute, list[tuple[str, str]]]:
    catalog = make_catalog(folder, TOML)
    (query,) = parse_sql(sql, catalog, name="q", file="q.sql").disjuncts
    form = normalise_query(query, distinct=False, catalog=catalog)
    assert {p for c in form.classes for p in c.domain.within} == {("R", "a")}
    return dict(compare_within(form, catalog))


def test_what_is_enforced_on_arrival_is_not_compared_again(tmp_path: Path) -> None:
    found = _within(tmp_path, "SELECT x.a FROM S x, S y WHERE x.a = y.b AND x.ts < y.ts")
    assert found == {Attribute("x", "a"): [], Attribute("y", "b"): [("R", "a")]}


def test_the_column_itself_is_not_looked_up(tmp_path: Path) -> None:
    found = _within(tmp_path, "SELECT x.a FROM S x, R r WHERE x.b = r.a AND x.a = r.a")
    assert found[Attribute("r", "a")] == []
    assert found[Attribute("x", "b")] == [("R", "a")]


def test_other_types_and_shifted_values_are_compared(tmp_path: Path) -> None:
    """A reference is held against values of the stream's type, and holds of its own column only."""
    assert _within(tmp_path, "SELECT d FROM S") == {Attribute("S", "d"): [("R", "a")]}
    found = _within(tmp_path, "SELECT x.b FROM S x, S y WHERE x.a = y.a + 1 AND x.ts < y.ts")
    assert sorted(map(len, found.values())) == [0, 0, 1]  # b, one of the two, and the other
