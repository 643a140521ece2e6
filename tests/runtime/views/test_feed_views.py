"""The rows of views, from those of the tables that their branches read."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.runtime.columnar.check_domain import arrow_type
from ontoweir.runtime.ingest.admit_rows import Admitted
from ontoweir.runtime.times.steps import Steps
from ontoweir.runtime.views.feed_views import feed_views, fill_relations
from ontoweir.runtime.views.prepare_view import list_columns, prepare_view
from tests.rewriter.views.view_project import open_project, triples_map

TOML = """
[project]
ontology = ["o.ttl"]
mappings = ["m.ttl"]
queries = ["q.rq"]
[streams.s]
source = { format = "parquet", path = "s" }
timestamp = { column = "ts", unit = "1 second" }
[streams.s.columns]
id = "int"
n = "int"
a = "string"
d = "decimal(6,2)"
e = "decimal(9,5)"
f = "double"
day = "date"
b = "boolean"
[streams.u]
source = { format = "parquet", path = "u" }
timestamp = { column = "ts", unit = "1 second" }
columns = { id = "int", n = "int", a = "string", d = "int" }
[relations.r]
source = { format = "csv", path = "r" }
columns = { id = "int", k = "int", c = "string" }
"""
ROWS: dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]] = {
    "s": (
        ("ts", "id", "n", "a"),
        [
            (1, 1, 5, "x"),
            (1, 1, 6, "x"),
            (1, 2, 5, "y"),
            (1, None, 5, "x"),
            (2, 1, 5, "y"),
            (2, 1, None, "y"),
            (2, 3, 7, None),
            (4, 3, 7, "z"),
        ],
    ),
    "u": (("ts", "id", "n", "a"), [(0, 1, 1, "x"), (1, 1, 1, "q"), (2, 9, 2, "y"), (2, 9, 3, "y")]),
    "r": (("id", "k", "c"), [(5, 1, "p"), (5, 2, "p"), (7, 3, "q"), (None, 3, "q"), (7, 4, None)]),
}
IN_GRAPH = "SELECT * { GRAPH ?t { %s } }"


class Fed:
    """A query over ROWS, and what its views hold."""

    def __init__(
        self,
        folder: Path,
        maps: str,
        query: str,
        axioms: str = "",
        rows: dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]] = ROWS,
    ) -> None:
        head, _, body = query.partition("*")
        names = dict.fromkeys(w for w in query.split() if w[0] == "?" and w != "?t")
        text = f"{head}{' '.join(names)}{body}" if body else query
        workspace: Workspace = open_project(folder, maps, text, axioms, toml=TOML)
        self.union: SpjUnion = workspace.compile("q").union
        self.catalog: Catalog = extend_catalog(workspace.project.catalog, self.union)
        tables = {name: _table(self.catalog, name, *given) for name, given in rows.items()}
        statics = {n: t for n, t in tables.items() if n in self.catalog.relations}
        statics |= fill_relations(self.union.views, self.catalog, statics)
        admitted = {n: _admit(self.catalog, n, t) for n, t in tables.items() if n not in statics}
        prepared = [prepare_view(v, self.catalog, statics) for v in self.union.views]
        self.fed = feed_views(prepared, self.catalog, admitted, statics)
        self.statics = statics

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        """The rows of a view, of a stream with their steps, in order."""
        if name in self.statics:
            return sorted(zip(*self.statics[name].to_pydict().values(), strict=True))
        found = self.fed[name]
        steps = found.steps.all().tolist()
        assert steps == sorted(steps)
        columns = found.table.to_pydict().values() if self._has_columns(name) else ()
        return sorted(zip(steps, *columns, strict=True))

    def _has_columns(self, name: str) -> bool:
        return bool(self.catalog.table(name).columns)


def _table(
    catalog: Catalog, name: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]
) -> pa.Table:
    declared = catalog.table(name)
    made = {}
    for n, column in enumerate(columns):
        known = declared.column(column)
        kind = pa.int64() if known is None else arrow_type(known.type)
        made[column] = pa.array([row[n] for row in rows], kind)
    return pa.table(made)


def _admit(catalog: Catalog, name: str, table: pa.Table) -> Admitted:
    declared = catalog.streams[name]
    steps = table.column(declared.timestamp).to_numpy().astype(np.int64)
    return Admitted(Steps(steps), steps, table, len(steps), {})


def test_equal_rows_of_a_time_are_one_and_a_null_makes_none(tmp_path: Path) -> None:
    fed = Fed(tmp_path, triples_map("T", "s", "http://e/{id}", ":C"), IN_GRAPH % "?x a :C")
    assert fed.rows("C_members") == [(1, 1), (1, 2), (2, 1), (2, 3), (4, 3)]


def test_a_null_of_either_column_makes_none(tmp_path: Path) -> None:
    fed = Fed(tmp_path, triples_map("T", "s", "http://e/{id}", ":p a"), IN_GRAPH % "?x :p ?y")
    assert fed.rows("p_triples") == [(1, 1, "x"), (1, 2, "y"), (2, 1, "y"), (4, 3, "z")]


def test_branches_of_two_streams_are_in_order_of_time(tmp_path: Path) -> None:
    maps = "".join(triples_map(t, t, "http://e/{id}", ":p a") for t in "su")
    fed = Fed(tmp_path, maps, IN_GRAPH % "?x :p ?y")
    assert fed.rows("p_triples") == [
        (0, 1, "x"),
        (1, 1, "q"),
        (1, 1, "x"),
        (1, 2, "y"),
        (2, 1, "y"),
        (2, 9, "y"),
        (4, 3, "z"),
    ]


def test_branches_of_one_stream_that_overlap(tmp_path: Path) -> None:
    parts = "SELECT id, a FROM s WHERE n < 7", "SELECT id, a FROM s WHERE n > 5"
    maps = "".join(triples_map(f"T{n}", q, "http://e/{id}", ":p a") for n, q in enumerate(parts))
    fed = Fed(tmp_path, maps, IN_GRAPH % "?x :p ?y")
    assert fed.rows("p_triples") == [(1, 1, "x"), (1, 2, "y"), (2, 1, "y"), (4, 3, "z")]


def test_a_branch_that_joins_a_relation(tmp_path: Path) -> None:
    sql = "SELECT s.id, r.c FROM s JOIN r ON s.n = r.id WHERE r.k > 1"
    fed = Fed(tmp_path, triples_map("T", sql, "http://e/{id}", ":p c"), IN_GRAPH % "?x :p ?y")
    assert fed.rows("p_triples") == [
        (1, 1, "p"),
        (1, 2, "p"),
        (2, 1, "p"),
        (2, 3, "q"),
        (4, 3, "q"),
    ]


def test_a_branch_that_joins_a_relation_with_itself(tmp_path: Path) -> None:
    sql = "SELECT s.id, y.k FROM s JOIN r x ON s.n = x.id JOIN r y ON x.c = y.c"
    fed = Fed(tmp_path, triples_map("T", sql, "http://e/{id}", ":p k"), IN_GRAPH % "?x :p ?y")
    fives = [(t, i, k) for t, i in ((1, 1), (1, 2), (2, 1)) for k in (1, 2)]
    assert fed.rows("p_triples") == sorted([*fives, (2, 3, 3), (4, 3, 3)])


def test_a_constant_is_equal_to_a_columns_value(tmp_path: Path) -> None:
    maps = triples_map("T", "s", "http://e/{id}", ":C") + _constant("u", "http://e/1", ":C")
    fed = Fed(tmp_path, maps, IN_GRAPH % "?x a :C")
    assert fed.rows("C_members") == [(0, 1), (1, 1), (1, 2), (2, 1), (2, 3), (4, 3)]


def test_a_triple_of_constants_holds_once_a_time(tmp_path: Path) -> None:
    fed = Fed(tmp_path, _constant("s", "http://e/1", ":C"), IN_GRAPH % "?x a :C")
    assert fed.rows("C_members") == [(1,), (2,), (4,)]


def test_a_triple_of_constants_that_always_holds_is_not_counted_again(tmp_path: Path) -> None:
    maps = _constant("s", "http://e/1", ":C") + _constant("r", "http://e/1", ":C")
    maps += triples_map("P", "s", "http://e/{id}", ":p n")
    fed = Fed(tmp_path, maps, IN_GRAPH % "?x a :C ; :p ?y")
    assert fed.rows("C_members") == []
    assert fed.statics["static_C_members"].num_rows == 1


def test_a_triple_that_a_relation_makes_is_not_counted_again(tmp_path: Path) -> None:
    maps = "".join(
        triples_map(*given)
        for given in (
            ("T", "s", "http://e/{n}", ":C"),
            ("R", "r", "http://e/{id}", ":C"),
            ("P", "s", "http://e/{n}", ":p a"),
        )
    )
    fed = Fed(tmp_path, maps, IN_GRAPH % "?x a :C ; :p ?y")
    assert fed.rows("C_members") == [(1, 6)]
    assert fed.rows("static_C_members") == [(5,), (7,)]


def test_a_streams_constant_beside_a_relations_column(tmp_path: Path) -> None:
    maps = "".join(
        (
            _constant("s", "http://e/5", ":C"),
            _constant("u", "http://e/6", ":C"),
            triples_map("R", "r", "http://e/{id}", ":C"),
            triples_map("P", "s", "http://e/{n}", ":p a"),
        )
    )
    fed = Fed(tmp_path, maps, IN_GRAPH % "?x a :C ; :p ?y")
    made = [row for v in fed.union.views if v.name.startswith("C_") for row in fed.rows(v.name)]
    assert sorted(row[0] for row in made) == [0, 1, 2]  # of http://e/6


def _constant(table: str, iri: str, cls: str) -> str:
    """A map that says of one thing, for each row, that it is of a class."""
    return (
        f'<#K{table}{iri[-1]}> rr:logicalTable [ rr:tableName "{table}" ] ;\n'
        f"  rr:subjectMap [ rr:constant <{iri}> ] ;\n  rr:predicateObjectMap [ rr:predicate "
        f"<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ; rr:object {cls} ] .\n"
    )


VALUES: dict[str, list[Any]] = {
    "d": [Decimal("1.50"), Decimal("1.50"), Decimal("-1.50"), None],
    "f": [0.1, 0.1, -0.0, None],
    "day": [date(2020, 1, 1), date(2020, 1, 1), date(1969, 12, 31), None],
    "b": [True, True, False, None],
    "a": ["é", "é", "e\u0301", None],
    "n": [2**62, 2**62, -(2**63), None],
}


@pytest.mark.parametrize("column", VALUES)
def test_values_of_every_type(column: str, tmp_path: Path) -> None:
    rows = {**ROWS, "s": (("ts", "id", column), [(3, 1, value) for value in VALUES[column]])}
    maps = triples_map("T", "s", "http://e/{id}", f":p {column}")
    fed = Fed(tmp_path, maps, "SELECT ?x { GRAPH ?t { ?x :p ?y } }", rows=rows)
    once, other = VALUES[column][1:3]
    assert fed.rows("p_triples") == sorted([(3, 1, once), (3, 1, other)])


def test_decimals_of_two_scales_are_equal_by_value(tmp_path: Path) -> None:
    row = (3, 1, Decimal("1.50"), Decimal("1.50000"))
    rows = {
        **ROWS,
        "s": (("ts", "id", "d", "e"), [row, (3, 1, Decimal("2.00"), Decimal("2.00001"))]),
    }
    maps = triples_map("T", "s", "http://e/{id}", ":p d", ":p e")
    fed = Fed(tmp_path, maps, IN_GRAPH % "?x :p ?y", rows=rows)
    assert fed.rows("p_triples") == [
        (3, 1, Decimal("1.5")),
        (3, 1, Decimal("2")),
        (3, 1, Decimal("2.00001")),
    ]


def test_a_view_of_views(tmp_path: Path) -> None:
    """The matches of a star with many are a view, here over sets that are views themselves."""
    kinds = "abcdefghijklm"
    maps = "".join(triples_map(c, "s", "http://e/{id}", f":p http://e/{c}/{{a}}") for c in kinds)
    fed = Fed(tmp_path, maps, "SELECT ?x { GRAPH ?t { ?x :p ?y } }")
    (star,) = (v for v in fed.union.views if not v.distinct)
    sets = {v.name for v in fed.union.views if v.distinct}
    assert len(star.branches) == len(kinds)
    assert set(star.tables) == sets
    once = [(1, 1), (1, 2), (2, 1), (4, 3)]
    assert fed.rows(star.name) == sorted(once * len(kinds))


def test_the_columns_that_branches_look_at(tmp_path: Path) -> None:
    sql = "SELECT s.id, r.c FROM s JOIN r ON s.n = r.id WHERE r.k > 1"
    fed = Fed(tmp_path, triples_map("T", sql, "http://e/{id}", ":p c"), IN_GRAPH % "?x :p ?y")
    (view,) = fed.union.views
    assert list_columns(view, fed.catalog) == {"s": {"id", "n"}, "r": {"id", "k", "c"}}
