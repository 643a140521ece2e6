"""The answers of a query beside which rows are there, or are not, as what another query reads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from ontoweir.mappings.model.catalog import Catalog, Column
from ontoweir.mappings.sql.read_scope import SqlRefusal
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.blocks.declare_absence import declare_absence
from ontoweir.rewriter.joins.absence_trees import LEFT, RIGHT, TIME, AbsenceTrees
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.spj import (
    AbsencePart,
    Block,
    Compare,
    LiteralOutput,
    NullOutput,
    Op,
    SpjQuery,
    SpjUnion,
)

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class MadeAbsence:
    """`catalog`: with the block's stream; `columns`: of the answers, and how long before the
    stream's timestamp each is, in µs (None: a column of the stream of the same name)."""

    block: Block
    columns: tuple[tuple[str, int | None], ...]
    catalog: Catalog


def make_absence(
    trees: AbsenceTrees,
    read: "Callable[[Sequence[exp.Select], int], SpjUnion]",
    name: str,
    catalog: Catalog,
) -> MadeAbsence:
    """The stream of the rows of SELECTs beside which others are there, or are not.

    Args:
        trees: the SELECTs.
        read: reads SELECTs without subqueries, whose rows are one query's together, and of which
            so many columns may be NULL.
        name: what the stream is called, if no table is called so.
        catalog: the tables, with the streams of answers that the query reads.

    Raises:
        SqlRefusal: it is never final.
        QueryError: the query is wrong.
    """
    from sqlglot import exp

    taken = {n.lower() for n in (*catalog.streams, *catalog.relations)}
    names = (name if n == 1 else f"{name}_{n}" for n in count(1))
    free = next(n for n in names if n.lower() not in taken)
    if not trees.counted:
        for tree in trees.found:
            tree.set("distinct", exp.Distinct())
    found = read(trees.found, len(trees.columns))
    if not found.disjuncts:
        raise SqlRefusal(
            "a condition of constants that never holds, in a query of several rows",
            why="there is no row that others could be beside",
            fix="remove the condition, or write one of columns",
            line=trees.line,
        )
    parts, nulls = [], []
    for part in trees.parts:
        for tree in part.trees:
            tree.set("distinct", exp.Distinct())
        made = read(part.trees, len(trees.keys) + 2 * part.compared)
        made = _compare(made, trees.line) if part.compared else made
        nulls += _take_nulls(made, trees.nulls, extend_catalog(catalog, made))
        kept = tuple(n for n in made.variables if n not in trees.nulls)
        word = "there" if part.present else "absent"
        hits = replace(_choose(made, kept), name=f"{free}, what must be {word}")
        parts.append(AbsencePart(hits, (), part.present))
    if found.ends or found.begins or any(p.hits.ends or p.hits.begins for p in parts):
        raise SqlRefusal(
            "NOW() beside EXISTS, IN or an outer join",
            why="what is found beside a row may leave its window, so the answer would change back",
            fix="compare the timestamps of the rows instead: t.ts > s.ts - INTERVAL '10' MINUTE; "
            "or, in SQL, let the rows around it be in a window too, in a SELECT of columns of "
            "tables, or of COUNT, SUM, AVG, MIN and MAX, whose answers come and go as changes",
            line=trees.line,
        )
    times = [n for n in found.variables if n.startswith(f"{TIME} ")]
    same = {n: _find_same(n, trees.keys, [found, *(p.hits for p in parts)]) for n in times}
    apart = {n for n in found.variables if same.get(n, n) == n}
    found = _choose(found, [n for n in found.variables if n in apart])
    parts = [
        replace(p, hits=_choose(p.hits, [n for n in p.hits.variables if n in apart])) for p in parts
    ]
    keys = [n for n in trees.keys if n in apart]
    found, alone = replace(found, name=free), list(dict.fromkeys(same.values()))
    held = trees.held if trees.until is None else same[trees.until]
    block, behind = declare_absence(found, parts, keys, alone, catalog, held=held)
    shown = {c.name for c in block.stream.columns}
    stream = replace(
        block.stream,
        columns=(*block.stream.columns, *(n for n in nulls if n.name not in shown)),
    )
    streams = {**catalog.streams, free: stream}
    visible = tuple(n for n in trees.columns if not n.startswith(f"{TIME} "))
    return MadeAbsence(
        replace(block, stream=stream),
        tuple((n, behind.get(n)) for n in visible),
        replace(catalog, streams=streams),
    )


def _find_same(name: str, keys: Sequence[str], unions: Sequence[SpjUnion]) -> str:
    """The first key that is the same as a variable, in all disjuncts of some queries."""
    outputs = [dict(q.outputs) for union in unions for q in union.disjuncts]
    return next(k for k in keys if all(o[k] == o[name] for o in outputs))


def _take_nulls(union: SpjUnion, names: Sequence[str], catalog: Catalog) -> list[Column]:
    """Columns that are NULL in every row, with the types of some variables."""
    nulls = []
    for name in names:
        if name not in union.variables or not union.disjuncts:
            continue
        query = union.disjuncts[0]
        output = dict(query.outputs)[name]
        if not isinstance(output, LiteralOutput | NullOutput):
            raise SqlRefusal(
                f"{name}, which a LEFT JOIN makes NULL, is a constant",
                why="its rows without a partner have no value there",
                fix="select a column of the joined table",
            )
        kind = Types(catalog, query.occurrences).type_of(output.value)
        nulls.append(Column(name, kind, enum=()))
    return nulls


def _choose(union: SpjUnion, names: Sequence[str]) -> SpjUnion:
    """The query of some of its variables."""
    disjuncts = tuple(
        replace(q, outputs=tuple((n, dict(q.outputs)[n]) for n in names)) for q in union.disjuncts
    )
    return replace(union, variables=tuple(names), disjuncts=disjuncts)


def _compare(union: SpjUnion, line: int | None) -> SpjUnion:
    """The rows beside which NOT IN does not hold: what is compared is equal, or NULL."""
    kept = []
    for query in union.disjuncts:
        outputs = dict(query.outputs)
        left, right = outputs[LEFT], outputs[RIGHT]
        if isinstance(left, NullOutput) or isinstance(right, NullOutput):
            kept.append(query)
            continue
        if not isinstance(left, LiteralOutput) or not isinstance(right, LiteralOutput):
            raise SqlRefusal(
                "NOT IN of a constant",
                why="a column is looked for among those of a subquery",
                fix="write NOT EXISTS (SELECT 1 FROM … WHERE … = the constant)",
                line=line,
            )
        equal = Compare(left.value, Op.EQ, right.value, source=union.source)
        kept.append(_and(query, equal))
    names = [n for n in union.variables if n not in (LEFT, RIGHT)]
    return _choose(replace(union, disjuncts=tuple(kept)), names)


def _and(query: SpjQuery, condition: Compare) -> SpjQuery:
    return replace(query, conditions=(*query.conditions, condition))
