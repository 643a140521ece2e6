"""Merged assertions make what they made apart: the same triples, each as often."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from random import Random
from typing import Any, assert_never

import pytest
from hypothesis import given

from ontoweir.errors import Source
from ontoweir.mappings.model.assertion import (
    CompareOp,
    ConstantMap,
    MappingAssertion,
    MappingSet,
    MappingSource,
    SourceColumn,
    SourceCompare,
    SourceCondition,
    SourceConstant,
    SourceNotNull,
    SourceOneOf,
    SourceTable,
    TemplateMap,
)
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.ontology.tbox import TBox
from ontoweir.rewriter.model.compare_scalars import compare_scalars
from ontoweir.rewriter.model.spj import Op
from ontoweir.rewriter.tmappings import compile_tmappings as compiling
from ontoweir.rewriter.tmappings.compile_tmappings import compile_tmappings
from ontoweir.rewriter.tmappings.merge_assertions import merge_assertions, split_lists
from tests.oracle.budget import SEEDS, budget
from tests.read_given import read_catalog

CATALOG = read_catalog(
    """
[streams.r]
source = { format = "parquet", path = "r" }
timestamp = { column = "ts", unit = "5 minutes" }
columns = { id = "int", a = "int", b = "int" }
[relations.s]
source = { format = "csv", path = "s" }
columns = { id = "int", a = "int", b = "int" }
"""
)
CLASS = "http://e/C"
OPS: tuple[CompareOp, ...] = ("<", ">=", "<>", "=")


def draw_assertion(draw: Random, number: int) -> MappingAssertion:
    """Rows of r, of s, or of both joined, with some conditions."""
    alias = draw.choice("xy")
    tables = draw.choice([["r"], ["r"], ["r"], ["s"], ["r", "s"]])
    names = {t: alias + t for t in tables}
    columns = [SourceColumn(names[t], c) for t in tables for c in "ab"]
    conditions: list[SourceCondition] = []
    if len(tables) == 2:
        ends = [SourceColumn(names[t], "id") for t in tables]
        conditions.append(SourceCompare(ends[0], "=", ends[1]))
    for column in columns:
        kind = draw.randrange(8)
        if kind < 3:
            conditions.append(SourceCompare(column, "=", SourceConstant(draw.randrange(4))))
        elif kind < 5:
            values = draw.sample(range(4), draw.choice((2, 2, 3)))
            conditions.append(SourceOneOf(column, tuple(values)))
        elif kind == 5:
            op = draw.choice(OPS)
            conditions.append(SourceCompare(column, op, SourceConstant(draw.randrange(4))))
        elif kind == 6:
            conditions.append(SourceNotNull(column))
    draw.shuffle(conditions)
    parts = draw.choice([("http://e/", columns[0]), *[("http://e/", ends_of(columns))] * 4])
    return MappingAssertion(
        f"<#M{number}>",
        CLASS,
        MappingSource(tuple(SourceTable(names[t], t) for t in tables), tuple(conditions)),
        TemplateMap(parts, "iri"),
        None,
        Source("m.ttl", number),
        names.get("r"),
    )


def ends_of(columns: list[SourceColumn]) -> SourceColumn:
    return SourceColumn(columns[0].alias, "id")


def draw_tables(draw: Random) -> dict[str, list[dict[str, int | None]]]:
    values = (0, 1, 2, 3, None)
    return {
        table: [{c: draw.choice(values) for c in ("id", "a", "b")} for _ in range(12)]
        for table in "rs"
    }


def count_triples(
    assertions: tuple[MappingAssertion, ...], data: dict[str, list[dict[str, int | None]]]
) -> Counter[object]:
    return Counter(t for a in assertions for t in make_triples(a, data))


def make_triples(
    assertion: MappingAssertion, data: dict[str, list[dict[str, int | None]]]
) -> Iterator[object]:
    aliases = [t.alias for t in assertion.source.tables]
    subject = assertion.subject
    assert isinstance(subject, TemplateMap)
    for rows in product(*(data[t.table] for t in assertion.source.tables)):
        row = dict(zip(aliases, rows, strict=True))

        def value(c: SourceColumn, row: dict[str, dict[str, int | None]] = row) -> int | None:
            return row[c.alias][c.column]

        if all(holds(c, value) for c in assertion.source.conditions):
            made = tuple(value(p) if isinstance(p, SourceColumn) else p for p in subject.parts)
            if None not in made:
                yield made, assertion.stream_alias is None


def holds(condition: SourceCondition, value: Callable[[SourceColumn], Any]) -> bool:
    match condition:
        case SourceNotNull(column=column):
            return value(column) is not None
        case SourceOneOf(column=column, values=values):
            return value(column) in values
        case SourceCompare(left=left, op=op, right=right):
            other = value(right) if isinstance(right, SourceColumn) else right.value
            mine = value(left)
            return None not in (mine, other) and compare_scalars(mine, Op(op), other)
        case _ as unreachable:
            assert_never(unreachable)


def keep_apart(
    assertions: tuple[MappingAssertion, ...], catalog: Catalog
) -> tuple[MappingAssertion, ...]:
    return assertions


@budget(3)
@given(SEEDS)
def test_same_triples_each_as_often(seed: int) -> None:
    """Beside them compiled without a list: each constant an assertion, contained ones dropped."""
    draw = Random(seed)
    drawn = tuple(draw_assertion(draw, n) for n in range(draw.randrange(2, 9)))
    apart = MappingSet(tuple(p for a in drawn for p in split_lists(a)))
    merged = compile_tmappings(MappingSet(drawn), TBox(()), CATALOG, predicates=[CLASS])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "merge_assertions", keep_apart)
        split = compile_tmappings(apart, TBox(()), CATALOG, predicates=[CLASS])
    data = draw_tables(draw)
    assert count_triples(merged.assertions, data) == count_triples(split.assertions, data)
    assert len(merged.assertions) <= len(split.assertions)


@budget(1)
@given(SEEDS)
def test_each_triples_map_is_named(seed: int) -> None:
    draw = Random(seed)
    drawn = tuple(draw_assertion(draw, n) for n in range(8))
    merged = merge_assertions(drawn, CATALOG)
    named = [n for a in merged for n in (a.id, *(o.id for o in a.others))]
    assert sorted(named) == sorted(a.id for a in drawn)
    data = draw_tables(draw)
    assert count_triples(merged, data) == count_triples(drawn, data)


def test_facts_stay() -> None:
    fact = MappingAssertion(
        "f", CLASS, MappingSource(()), ConstantMap("http://e/1", True), None, Source("o.ttl")
    )
    assert merge_assertions([fact, fact], CATALOG) == (fact, fact)
