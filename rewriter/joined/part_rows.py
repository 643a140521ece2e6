"""The rows of a part of a join, as a query; and the groups that are made of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ontoweir.mappings.model.catalog import Catalog, ColumnType, IntType, Stream
from ontoweir.mappings.model.expression import Field
from ontoweir.mappings.sql.read_scope import find_name
from ontoweir.rewriter.aggregates.group_latest import group_latest
from ontoweir.rewriter.aggregates.row_union import row_union
from ontoweir.rewriter.differences.since_first import begun_moment, list_begins
from ontoweir.rewriter.groups.type_group_row import type_group_row
from ontoweir.rewriter.joined.part import Part
from ontoweir.rewriter.joined.write_part import write_part
from ontoweir.rewriter.model.add_views import extend_catalog
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.joined import Joined
from ontoweir.rewriter.model.spj import ConstantOutput, LiteralOutput, SpjUnion
from ontoweir.rewriter.standing.make_standing import types_of

_MATCHED = "matched"
"""The column of matches that have no other: a table without columns does not know its rows."""


@dataclass(frozen=True, slots=True)
class PartRows:
    """`union`: the rows; `groups`: what is told of them (None: they are); `names`: by column of the
    part what it is called there; `kinds`: of each of these, its types."""

    union: SpjUnion
    groups: Aggregation | None
    names: Mapping[str, str]
    kinds: "Mapping[str, set[ColumnType | None]]"


def comes_and_goes(union: SpjUnion) -> bool:
    """Whether rows hold as they are told, or from a time on, and until one, that are known when
    they come."""
    plain = union.aggregation is None and not union.distinct
    made = union.blocks or union.views or union.joined is not None
    if not plain or made:
        return False
    if union.standing is not None:
        return union.standing.groups is None and not union.begins
    return bool(union.ends)


def read_rows(part: Part, catalog: Catalog, read: "Callable[..., SpjUnion]") -> PartRows | None:
    """The rows of a part (None: they do not come and go by themselves, or are of several types).

    Args:
        part: of a join.
        catalog: the tables.
        read: reads a part, by itself (PartReader).

    Raises:
        SqlRefusal: the part is not read.
    """
    from sqlglot import exp

    written = write_part(part, catalog)
    of = [t for t in written.find_all(exp.Table) if find_name(t.name, catalog.streams)]
    one = read(written, rows=part.is_table)
    if one.standing is not None and one.standing.groups is not None:
        begun = read_begun(list_begins(catalog), read).union
        one = group_latest(one, catalog, begun) or one
    if one.joined is not None:
        return _take(part, one, None, type_joined(one, one.joined, catalog))
    if one.distinct and one.aggregation is None and one.standing is None:
        told = tuple(v for v in one.variables if v not in (*one.ends, *one.begins))
        one = replace(one, aggregation=Aggregation(told, (), told), distinct=False)
    groups = one.aggregation
    if groups is not None and not is_plain(groups):
        return None
    union = one if groups is None else open_arguments(one, groups)
    single = len(of) == 1 or bool(part.streams)
    statics = replace(union, blocks=()) if single else union  # final at their own time
    if not comes_and_goes(statics):
        return None
    kinds: dict[str, set[ColumnType | None]]
    if groups is None:
        hidden = () if union.standing is None else union.standing.hidden
        shown = [v for v in union.variables if v not in (*hidden, *union.ends, *union.begins)]
        kinds = {v: types_of(union, v, catalog) for v in shown}
        if any(len(types) != 1 for types in kinds.values()):
            return None
    else:
        row = type_group_row(one, extend_catalog(catalog, one), terms=False)
        kinds = {n: {f.type} for n, f in row.items() if isinstance(f, Field)}
        kinds |= {name: {made.type} for name, made in groups.computed}
        kinds = {name: kinds[name] for name in groups.columns if name in kinds}
    return _take(part, union, groups, kinds)


def _take(
    part: Part,
    union: SpjUnion,
    groups: Aggregation | None,
    kinds: "Mapping[str, set[ColumnType | None]]",
) -> PartRows | None:
    """The part with the names of its columns (None: it has not all that are needed)."""
    named = {v.lower(): v for v in kinds}
    names = {c: named[c.lower()] for c in part.wanted if c.lower() in named}
    return PartRows(union, groups, names, kinds) if len(names) == len(part.wanted) else None


def type_joined(
    union: SpjUnion, joined: Joined[SpjUnion], catalog: Catalog
) -> "dict[str, set[ColumnType | None]]":
    """The types of the columns that are told of joined rows."""
    if joined.row is None:
        return {name: types_of(union, variable, catalog) for name, variable in joined.shown}
    columns, groups = joined.row.columns, joined.row.groups
    if groups is None:
        return {name: {kind} for name, kind in columns}
    row = type_group_row(*row_union(columns, groups, catalog), terms=False)
    kinds = {n: {f.type} for n, f in row.items() if isinstance(f, Field)}
    kinds |= {name: {made.type} for name, made in groups.computed}
    return {name: {*kinds[name]} for name in groups.columns if name in kinds}


def open_arguments(union: SpjUnion, groups: Aggregation) -> SpjUnion:
    """The matches of groups, as rows: an argument of theirs may be NULL."""
    disjuncts = tuple(
        replace(
            query,
            outputs=tuple(
                (n, replace(o, optional=True))
                if isinstance(o, LiteralOutput) and n not in groups.group
                else (n, o)
                for n, o in query.outputs
            ),
        )
        for query in union.disjuncts
    )
    union = replace(union, aggregation=None, disjuncts=disjuncts)
    if not set(union.variables) <= {*union.ends, *union.begins}:
        return union
    one = (_MATCHED, ConstantOutput("1", is_iri=False, kind=IntType()))
    matched = tuple(replace(q, outputs=(one, *q.outputs)) for q in union.disjuncts)
    return replace(union, variables=(_MATCHED, *union.variables), disjuncts=matched)


def is_plain(groups: Aggregation) -> bool:
    """Whether its groups are those of the rows that hold, and all of them are told."""
    beyond = (groups.panes, groups.session_us, groups.around, groups.numbered)
    return not groups.one_each and all(one is None for one in beyond)


def read_begun(streams: Sequence[Stream], read: "Callable[..., SpjUnion]") -> PartRows:
    """A row that is there from the first timestamp of a query's streams on.

    Args:
        streams: of the query.
        read: as read_rows has it.
    """
    union = read(begun_moment(streams), rows=False)
    return PartRows(union, None, {}, {})
