"""The solutions of a part of a SPARQL text, as rows that are joined, or groups of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ontoweir.mappings.expressions.may_be_null import may_be_null
from ontoweir.mappings.model.catalog import Catalog, ColumnType, IntType
from ontoweir.mappings.model.column_types import XSD, natural_datatype
from ontoweir.mappings.model.expression import Field
from ontoweir.rewriter.aggregates.as_having import as_having
from ontoweir.rewriter.algebra.equality_classes import constant_type
from ontoweir.rewriter.blocks.make_answers import make_answers
from ontoweir.rewriter.buckets.make_column import NEVER
from ontoweir.rewriter.differences.count_rows import MULTIPLICITY
from ontoweir.rewriter.differences.since_first import FIRST
from ontoweir.rewriter.groups.type_group_row import type_group_row
from ontoweir.rewriter.joined.part_rows import comes_and_goes, is_plain, open_arguments, type_joined
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import AggregateFunction, Aggregation
from ontoweir.rewriter.model.joined import Joined, JoinedPart, JoinKind
from ontoweir.rewriter.model.spj import (
    Attribute,
    ConstantOutput,
    LiteralOutput,
    NullOutput,
    Occurrence,
    Output,
    SpjQuery,
    SpjUnion,
    output_attributes,
)
from ontoweir.rewriter.standing.answers_of import ENDER, answers_of
from ontoweir.rewriter.standing.make_standing import types_of
from ontoweir.rewriter.windows.window import ENDS


@dataclass(frozen=True, slots=True)
class SolutionPart:
    """`union`: the rows; `groups`: what is told of them (None: they are); of each variable,
    `kinds`: its types (None: terms), and `terms`: what terms it may be; `ever`: they always hold;
    `loose`: variables that may have no value, though their terms do not say so.
    """

    union: SpjUnion
    groups: Aggregation | None
    kinds: Mapping[str, set[ColumnType | None]]
    terms: Mapping[str, tuple[Output, ...]]
    ever: bool = False
    loose: frozenset[str] = frozenset()


def open_part(union: SpjUnion, catalog: Catalog, *, single: bool = False) -> SolutionPart | None:
    """The rows of a part (None: they do not come and go by themselves).

    Args:
        union: its solutions.
        catalog: the tables.
        single: it names one GRAPH, of one stream: what it reads of others' answers is there in
            time.
    """
    if union.joined is not None:
        return _open_joined(union, union.joined, catalog)
    union = as_having(union) or union  # which rows of a part are there may change
    groups = union.aggregation
    if groups is None and union.distinct:
        shown = tuple(v for v in union.variables if v not in (*union.ends, *union.begins))
        groups = Aggregation(shown, (), shown)
        union = replace(union, aggregation=groups, distinct=False)
    if groups is not None and not is_plain(groups):
        return None
    rows = union if groups is None else open_arguments(_stay(union, catalog), groups)
    if not comes_and_goes(replace(rows, views=(), blocks=() if single else rows.blocks)):
        return None
    outputs = [dict(q.outputs) for q in answers_of(rows.disjuncts, rows.standing)]
    names = groups.group if groups is not None else rows.variables
    hidden = () if rows.standing is None else rows.standing.hidden
    names = tuple(n for n in names if n not in (*rows.ends, *rows.begins, *hidden))
    terms = {n: tuple(o[n] for o in outputs) for n in names}
    kinds = {n: _list_types(rows, n, terms[n], catalog) for n in names}
    if groups is not None:
        kinds |= _type_groups(union, groups, catalog)
        terms = {**_list_terms(union, groups, kinds), **terms}
        columns = [n for n in groups.columns if n != MULTIPLICITY]  # how often rows are there
        kinds = {n: kinds[n] for n in columns}
        terms = {n: terms[n] for n in columns}
    if groups is not None and any(len(of) != 1 for of in kinds.values()):
        return None
    return SolutionPart(rows, groups, kinds, terms)


def _stay(union: SpjUnion, catalog: Catalog) -> SpjUnion:
    """Groups of all rows so far as those of rows that never leave; others as they are, and those of
    a time, or a bucket of it, each of which is final."""
    if union.ends or union.standing is not None or union.begins or union.joined is not None:
        return union
    if _is_timed(union):
        return union
    wide = extend_catalog(catalog, union)
    end = f"{ENDS}1"
    disjuncts: list[SpjQuery] = []
    buckets = dict.fromkeys(union.buckets)
    for query in union.disjuncts:
        row = next((o for o in query.occurrences if o.table in wide.streams), None)
        if row is None:
            return union  # it is of static relations alone
        told = LiteralOutput(Attribute(row.alias, NEVER.name), f"{XSD}dateTime")
        disjuncts.append(replace(query, outputs=(*query.outputs, (end, told))))
        buckets[row.table, NEVER] = None
    return replace(
        union,
        variables=(*union.variables, end),
        disjuncts=tuple(disjuncts),
        distinct=False,  # only aggregates of sets have such rows, for which it makes no difference
        buckets=tuple(buckets),
        ends=(end,),
    )


def _is_timed(union: SpjUnion) -> bool:
    """Whether a time, or a bucket of it, tells groups apart."""
    times = {(table, column.name) for table, column in union.buckets}
    group = () if union.aggregation is None else union.aggregation.group
    for query in union.disjuncts:
        tables, outputs = {o.alias: o.table for o in query.occurrences}, dict(query.outputs)
        for read in (a for name in group for a in output_attributes(outputs[name])):
            if (tables[read.alias], read.column) in times:
                return True
    return False


def _open_joined(
    union: SpjUnion, joined: Joined[SpjUnion], catalog: Catalog
) -> SolutionPart | None:
    """Solutions that are joined themselves."""
    kinds = type_joined(union, joined, catalog)
    terms: dict[str, tuple[Output, ...]]
    if joined.row is None:
        rows = [dict(q.outputs) for q in union.disjuncts]
        told = (row for row in rows if _is_told(row, joined))
        of = [(row[joined.part], row) for row in told]  # a value that is seen is of its part
        terms = {n: tuple(r[v] for p, r in of if _is_of(p, v)) for n, v in joined.shown}
    elif joined.row.terms is None:
        return None
    else:
        known = dict(joined.row.terms.disjuncts[0].outputs)
        shown = joined.row.told
        terms = {n: (known[n] if n in known else _make_literal(n, kinds[n]),) for n in shown}
    sure = _list_sure(joined)
    terms |= {n: tuple(map(_always, terms[n])) for n in sure & terms.keys()}
    return SolutionPart(union, None, kinds, terms, loose=frozenset(terms) - sure)


def _always(output: Output) -> Output:
    """A term that is there in every solution."""
    return replace(output, optional=False) if isinstance(output, LiteralOutput) else output


def _list_sure(joined: Joined[SpjUnion]) -> set[str]:
    """The variables of joined solutions that have a value in all of them: those of parts that are
    not in OPTIONAL, of UNION those of all sides; and counts."""
    mine = [_list_told(part) for part in joined.parts]
    united = [n for n, part in enumerate(joined.parts) if part.kind is JoinKind.UNION]
    if united:
        mine[0] = set.intersection(mine[0], *(mine[n] for n in united))
    plain = {
        f"{number} {name}"
        for number, part in enumerate(joined.parts)
        if part.kind is JoinKind.INNER
        for name in mine[number]
    }
    columns = {name for name, variable in joined.shown if variable in plain}
    if joined.row is None:
        return columns
    computed = joined.row.shape.computed
    made = columns & set(joined.row.shape.columns)
    made |= {name for name, expression in computed if not may_be_null(expression, columns)}
    groups = joined.row.groups
    if groups is None:
        return made
    valued = {
        a.name
        for a in groups.aggregates
        if a.function in _COUNTS
        or (groups.group and a.function in _OF_ALL and {*a.arguments} <= made)
    }
    return (made & set(groups.group)) | valued


def _list_told(part: JoinedPart[SpjUnion]) -> set[str]:
    """The variables of a part that have a value in all of its rows, or groups of these."""
    if part.query.joined is not None:
        return _list_sure(part.query.joined)
    outputs = [dict(q.outputs) for q in answers_of(part.query.disjuncts, part.query.standing)]
    if part.groups is not None:
        return _list_valued(part.groups, outputs)
    return {n for n in part.query.variables if all(_has_value(o[n]) for o in outputs)}


def _is_told(row: Mapping[str, Output], joined: Joined[SpjUnion]) -> bool:
    """Whether a row of a part is an answer, and none that only ends others."""
    part = row[joined.part]
    assert isinstance(part, ConstantOutput)
    standing = joined.parts[int(part.value)].query.standing
    ender = None if standing is None else standing.ender
    return ender is None or row.get(f"{part.value} {ender}") != ENDER


def _is_of(part: Output, variable: str) -> bool:
    """Whether a row is of the part that a variable is of."""
    assert isinstance(part, ConstantOutput)
    return part.value == variable.partition(" ")[0]


def open_static(
    union: SpjUnion, first: Callable[[], SpjUnion], catalog: Catalog
) -> SolutionPart | None:
    """The rows of a part that always hold, from the first timestamp of some streams on, or groups
    of them (None: they are of a stream, or computed).

    Args:
        union: its solutions.
        first: makes the query of that timestamp.
        catalog: the tables.
    """
    wide = extend_catalog(catalog, union)
    tables = {o.table for q in union.disjuncts for o in q.occurrences}
    if union.joined is not None or union.standing is not None or not union.disjuncts:
        return None
    if union.blocks or tables & wide.streams.keys():
        return None
    rows = _hold(union, first(), catalog)
    if union.aggregation is not None or union.distinct:
        return open_part(rows, catalog, single=True)
    outputs = [dict(q.outputs) for q in union.disjuncts]
    terms = {n: tuple(o[n] for o in outputs) for n in union.variables}
    kinds = {n: _list_types(union, n, terms[n], catalog) for n in union.variables}
    return SolutionPart(rows, None, kinds, terms, ever=True)


def _hold(union: SpjUnion, first: SpjUnion, catalog: Catalog) -> SpjUnion:
    """Static rows as those of a first timestamp, which never leave."""
    answers, block = make_answers(first, FIRST, catalog)
    end = f"{ENDS}1"
    disjuncts = []
    for query in union.disjuncts:
        row = Occurrence(FIRST, answers.stream.name)
        told = LiteralOutput(Attribute(FIRST, NEVER.name), f"{XSD}dateTime")
        disjuncts.append(
            replace(
                query,
                occurrences=(*query.occurrences, row),
                outputs=(*query.outputs, (end, told)),
            )
        )
    return replace(
        union,
        variables=(*union.variables, end),
        disjuncts=tuple(disjuncts),
        distinct=union.distinct and union.aggregation is None,  # as _stay has it
        buckets=tuple(dict.fromkeys((*union.buckets, (answers.stream.name, NEVER)))),
        ends=(end,),
        blocks=(block,),
    )


def open_begun(first: SpjUnion, catalog: Catalog) -> SpjUnion:
    """One row that is there from the first timestamp of some streams on.

    Args:
        first: the query of that timestamp.
        catalog: the tables.
    """
    answers, block = make_answers(first, FIRST, catalog)
    end = f"{ENDS}1"
    told = LiteralOutput(Attribute(FIRST, NEVER.name), f"{XSD}dateTime")
    one = ConstantOutput("1", is_iri=False, kind=IntType())
    row = SpjQuery((Occurrence(FIRST, answers.stream.name),), (), ((FIRST, one), (end, told)))
    return SpjUnion(
        FIRST,
        (FIRST, end),
        (row,),
        distinct=False,
        buckets=((answers.stream.name, NEVER),),
        ends=(end,),
        blocks=(block,),
    )


def _list_types(
    union: SpjUnion, variable: str, outputs: Sequence[Output], catalog: Catalog
) -> set[ColumnType | None]:
    """The types of a variable, those of constants too (None: terms)."""
    constants = [o for o in outputs if isinstance(o, ConstantOutput) and not o.is_iri]
    if len(constants) < len(outputs):
        return types_of(union, variable, catalog)
    return {constant_type(o) for o in constants}


def _type_groups(
    union: SpjUnion, groups: Aggregation, catalog: Catalog
) -> dict[str, set[ColumnType | None]]:
    """The types of aggregates, and of what is computed of groups."""
    row = type_group_row(union, extend_catalog(catalog, union), terms=False)
    made: dict[str, set[ColumnType | None]] = {
        a.name: {f.type} for a in groups.aggregates if isinstance(f := row[a.name], Field)
    }
    return made | {name: {of.type} for name, of in groups.computed}


def list_kinds(union: SpjUnion, catalog: Catalog) -> dict[str, set[ColumnType | None]]:
    """The types of all variables of a query (None: terms).

    Args:
        union: the query.
        catalog: the tables.
    """
    outputs = [dict(q.outputs) for q in union.disjuncts]
    return {n: _list_types(union, n, [o[n] for o in outputs], catalog) for n in union.variables}


def _list_terms(
    union: SpjUnion, groups: Aggregation, kinds: Mapping[str, set[ColumnType | None]]
) -> dict[str, tuple[Output, ...]]:
    """The terms of aggregates, and of what is computed of groups. A group without rows has no
    least value, and so has what is not grouped."""
    terms: dict[str, tuple[Output, ...]] = {}
    terms |= {n: (_make_literal(n, kinds[n]),) for n in groups.columns if n not in groups.group}
    outputs = [dict(q.outputs) for q in union.disjuncts]
    chosen = {a.name: a.argument for a in groups.aggregates if a.function.chooses}
    for name in _list_valued(groups, outputs) & terms.keys():
        if (argument := chosen.get(name)) is not None:
            terms[name] = tuple(dict.fromkeys(o[argument] for o in outputs))
        else:
            terms[name] = (replace(_make_literal(name, kinds[name]), optional=False),)
    return terms


def _list_valued(groups: Aggregation, outputs: Sequence[Mapping[str, Output]]) -> set[str]:
    """What has a value in each group of rows with such terms."""
    sure = {n for n in groups.group if all(_has_value(o[n]) for o in outputs)}
    for one in groups.aggregates:
        valued = all(_has_value(o[argument]) for o in outputs for argument in one.arguments)
        if one.function in _COUNTS or (groups.group and one.function in _OF_ALL and valued):
            sure.add(one.name)
    return sure | {name for name, made in groups.computed if not may_be_null(made, sure)}


_COUNTS = (AggregateFunction.COUNT, AggregateFunction.COUNT_DISTINCT)
_OF_ALL = (
    AggregateFunction.SUM,
    AggregateFunction.AVG,
    AggregateFunction.MIN,
    AggregateFunction.MAX,
)
"""What has a value of a group with rows, all of which have one."""


def _has_value(output: Output) -> bool:
    """Whether there is a term in every solution."""
    return not (isinstance(output, NullOutput) or getattr(output, "optional", False))


def _make_literal(name: str, kinds: set[ColumnType | None]) -> LiteralOutput:
    (kind,) = kinds
    assert kind is not None
    return LiteralOutput(Attribute("", name), natural_datatype(kind), optional=True)
