"""Rewriting rests on references that a run compares with the data, and on no others."""

from dataclasses import replace

import pytest

from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    DataSource,
    IntType,
    Reference,
    Relation,
    Stream,
)
from ontoweir.rewriter.algebra.contain_spj import is_contained
from ontoweir.rewriter.model.spj import SpjQuery
from ontoweir.rewriter.passes.remove_reference_joins import remove_reference_joins
from ontoweir.rewriter.sql.parse_sql import parse_sql

_NOWHERE = DataSource("parquet", None)
_COLUMNS = (Column("k", IntType()), Column("v", IntType()))


def _catalog(*, stream: Reference | None = None, static: Reference | None = None) -> Catalog:
    s = Stream("s", _NOWHERE, "ts", 1, 3, _COLUMNS)
    q = Relation("q", _NOWHERE, _COLUMNS, (("k",),))
    r = Relation("r", _NOWHERE, _COLUMNS, (("k",), ("k", "v")))
    if stream is not None:
        s = replace(s, references=(stream,))
    if static is not None:
        q = replace(q, references=(static,))
    return Catalog({"s": s}, {"q": q, "r": r})


def _query(sql: str, catalog: Catalog) -> SpjQuery:
    return parse_sql(sql, catalog, name="q", file="q.sql").disjuncts[0]


ONE = Reference(("k",), "r", ("k",))
TWO = Reference(("k", "v"), "r", ("k", "v"))


@pytest.mark.parametrize(
    ("sql", "catalog", "dropped"),
    [
        ("SELECT s.v FROM s, r WHERE s.k = r.k", _catalog(stream=ONE), True),
        ("SELECT s.v FROM s, r WHERE s.k = r.k AND s.v = r.v", _catalog(stream=TWO), False),
        ("SELECT s.v FROM s, q, r WHERE s.k = q.v AND q.k = r.k", _catalog(static=ONE), False),
    ],
)
def test_a_join_is_dropped_only_where_the_data_is_checked(
    sql: str, catalog: Catalog, dropped: bool
) -> None:
    query = _query(sql, catalog)
    tables = {o.table for o in remove_reference_joins(query, catalog).occurrences}
    assert ("r" not in tables) == dropped


def test_a_disjunct_is_contained_only_where_the_data_is_checked() -> None:
    for catalog, contained in ((_catalog(stream=ONE), True), (_catalog(stream=TWO), False)):
        small = _query("SELECT s.v FROM s WHERE s.k = s.k AND s.v = s.v", catalog)
        on = "s.k = r.k" if contained else "s.k = r.k AND s.v = r.v"
        big = _query(f"SELECT s.v FROM s, r WHERE {on}", catalog)
        assert is_contained(small, big, catalog) == contained
    catalog = _catalog(static=ONE)
    small = _query("SELECT q.v FROM s, q WHERE s.k = q.v AND q.k = q.k", catalog)
    big = _query("SELECT q.v FROM s, q, r WHERE s.k = q.v AND q.k = r.k", catalog)
    assert not is_contained(small, big, catalog)
