"""A column of a static relation is encoded once for all plans that look at it."""

from pathlib import Path

import pyarrow as pa
import pytest

from ontoweir.checker.model.units import Units
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.mappings.model.catalog import Relation
from ontoweir.rewriter.sql.parse_sql import parse_sql
from ontoweir.runtime.ingest import encode_statics as module
from ontoweir.runtime.pool.string_pool import StringPool
from tests.runtime.harness import make_catalog

CATALOG = """
[streams.s]
source = { format = "csv", path = "s.csv" }
timestamp = { column = "ts", unit = "1 second" }
columns = { device = "string", v = "int" }
[relations.r]
source = { format = "csv", path = "r.csv" }
keys = [["device"]]
max_rows = 9
columns = { device = "string", site = "string", floor = "int" }
"""
QUERIES = (
    "SELECT s.v FROM s, r WHERE s.device = r.device",
    "SELECT s.v, r.site FROM s, r WHERE s.device = r.device",
    "SELECT s.v, r.floor FROM s, r WHERE s.device = r.device",
    "SELECT s.v, r.site FROM s, r WHERE s.device = r.device",
)


def test_columns_are_shared_by_plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = make_catalog(tmp_path, CATALOG)
    rows = pa.table(
        {
            "device": pa.chunked_array([["a", "b"], ["c", None, None]]),
            "site": ["x", None, "x", "b", "z"],
            "floor": [1, None, 3, 4, 5],
        }
    )
    encoded: list[str] = []
    kept = module.encode_static

    def encode(
        relation: Relation, table: pa.Table, columns: set[str], units: Units, pool: StringPool
    ) -> module.StaticData:
        encoded.extend(columns)
        return kept(relation, table, columns, units, pool)

    monkeypatch.setattr(module, "encode_static", encode)
    pool, known, seen = StringPool(), dict[object, module.StaticData](), []
    for sql in QUERIES:
        union = parse_sql(sql, catalog, name="q", file="q.sql")
        form = normalise_query(union.disjuncts[0], distinct=union.distinct, catalog=catalog)
        seen.append(module.encode_statics(form, catalog, {"r": rows}, pool, known)["r"])
    assert sorted(encoded) == ["device", "floor", "site"]
    assert seen[1] is seen[3]
    for data in seen:
        for name, column in data.columns.items():
            assert column.valid.tolist() == [v is not None for v in rows.column(name).to_pylist()]
            if name != "floor":
                texts = pool.take(column.values[column.valid]).to_pylist()
                assert texts == rows.column(name).drop_null().to_pylist()
    assert seen[2].columns["floor"].values[[0, 2, 3, 4]].tolist() == [1, 3, 4, 5]
    assert [sorted(d.columns) for d in seen] == [
        ["device"],
        ["device", "site"],
        ["device", "floor"],
        ["device", "site"],
    ]
