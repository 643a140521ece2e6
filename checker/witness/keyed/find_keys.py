"""By which column of each stream a query is told of each value by itself."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain, islice, product
from typing import TypeAlias

from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    IntType,
    Meeting,
    Stream,
    StringType,
)
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, fields_of
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.algebra.equality_classes import condition_attributes
from ontoweir.rewriter.model.add_views import extend_catalog, tables_of
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.joined import Joined, JoinKind
from ontoweir.rewriter.model.spj import (
    Attribute,
    Block,
    Compare,
    Condition,
    IriOutput,
    IsNull,
    LiteralOutput,
    NotNull,
    NullOutput,
    Occurrence,
    Op,
    Output,
    SpjQuery,
    SpjUnion,
    TemplateLiteralOutput,
    View,
    output_attributes,
)
from ontoweir.rewriter.standing.answers_of import answers_of

Keys: TypeAlias = Mapping[str, str]
"""Of each stream, the column that is the key."""

_MOST = 64
"""So many choices of columns are looked at."""
_FEW = 4
"""Of more streams only columns with one name are looked at."""


def find_keys(union: SpjUnion, catalog: Catalog) -> Iterator[Keys]:
    """Choices of a column of each stream that a query reads, so that what is told of rows is, for
    each value of these columns, told of the rows that have it, and of static ones, as if there were
    no others; and nothing but equality is asked of the values, of which there is no end.

    Args:
        union: the query.
        catalog: the tables that it is written over.
    """
    names = sorted(n for n in read_tables(union) if n in catalog.streams)
    columns = [tuple(_list_free(catalog.streams[n])) for n in names]
    shared = [c for c in (columns[0] if names else ()) if all(c in mine for mine in columns)]
    others = product(*columns) if 1 < len(names) <= _FEW else ()
    choices = chain([(c,) * len(names) for c in shared], others)
    for chosen in dict.fromkeys(islice(choices, _MOST)):
        keys = dict(zip(names, chosen, strict=True))
        if _Told(catalog, keys).is_apart(union):
            yield keys


def read_tables(union: SpjUnion) -> set[str]:
    """The tables of the catalog that a query reads, in its parts too."""
    if union.joined is None:
        return tables_of(union)
    return set().union(*(read_tables(part.query) for part in union.joined.parts))


def _list_free(stream: Stream) -> Iterator[str]:
    """The columns of a stream whose values may be ever greater."""
    tied = {n for r in stream.references for n in r.columns}
    for column in stream.columns:
        if column.name not in tied and _is_free(column):
            yield column.name


def _is_free(column: Column) -> bool:
    made = column.expression is not None or column.bucket is not None
    if made or column.enum is not None or column.maximum is not None:
        return False
    return isinstance(column.type, IntType | StringType)


def is_plain(block: Block) -> bool:
    """Whether a block's rows are the answers of its query, at the time of their last row."""
    absent = block.absence is not None and (block.absence.parts or block.absence.held)
    if block.meeting is not None or absent or block.between is not None:
        return False
    union = block.union
    changes = union.aggregation or union.standing or union.joined or union.ends or union.begins
    return (block.time is None or block.time[1] == 0) and not changes


class _OtherError(Exception):
    """It is not of each value by itself, or not known to be so."""


class _Told:
    """What carries the key, in the parts of a query: each raises _OtherError where something is
    told of rows with several values together."""

    def __init__(self, catalog: Catalog, keys: Keys) -> None:
        self.catalog, self.keys = catalog, keys

    def is_apart(self, union: SpjUnion) -> bool:
        """Whether what is told of each value is told by itself."""
        try:
            self._list_told(union)
        except _OtherError:
            return False
        return True

    def _list_told(self, union: SpjUnion) -> AbstractSet[str]:
        if union.joined is not None:
            return self._join(union.joined)
        streams = extend_catalog(self.catalog, union).streams
        tables = self._list_tables(union, streams)
        if union.statics or any(_is_read(streams[n], own) for n, own in tables.items()):
            raise _OtherError
        carried = [(q, _carry(q, tables, streams)) for q in union.disjuncts]
        standing = union.standing
        answers = answers_of(union.disjuncts, standing)
        told = _in_all([names for query, names in carried if query in answers])
        if standing is not None:
            if not _in_all([names for _, names in carried]) & {*standing.key}:
                raise _OtherError
            told -= {*standing.hidden}
            if standing.groups is not None:
                told = _group(standing.groups, told)
            elif standing.distinct and not told:
                raise _OtherError
        elif union.aggregation is not None:
            told = _group(union.aggregation, told)
        told -= {*union.ends, *union.begins}
        if union.distinct and not told:
            raise _OtherError
        return told

    def _list_tables(
        self, union: SpjUnion, streams: Mapping[str, Stream]
    ) -> dict[str, AbstractSet[str]]:
        """The columns with the key of the tables that a query reads; static ones have none, and are
        not among them."""
        tables: dict[str, AbstractSet[str]] = {n: frozenset({c}) for n, c in self.keys.items()}
        waiting = {b.stream.name: b for b in union.blocks}
        views = {v.name: v for v in union.views}
        while waiting or views:
            before = len(waiting) + len(views)
            for name, block in list(waiting.items()):
                if block.meeting is None:
                    if not is_plain(block):
                        raise _OtherError
                    tables[name] = self._list_told(block.union)
                    del waiting[name]
                elif block.meeting.base in tables:
                    tables[name] = self._meet(block.meeting, tables)
                    del waiting[name]
            for name, view in list(views.items()):
                if not any(t in waiting or t in views for t in view.tables if t != name):
                    if view.timestamp is not None:
                        tables[name] = _carry_view(view, tables, streams)
                    del views[name]
            if len(waiting) + len(views) == before:
                raise _OtherError
        return tables

    def _meet(
        self, meeting: Meeting | Preceding | None, tables: Mapping[str, AbstractSet[str]]
    ) -> AbstractSet[str]:
        assert meeting is not None
        mine = tables[meeting.base]
        if isinstance(meeting, Preceding):
            made = [c.argument for c in meeting.columns if c.argument is not None]
            made += [] if meeting.only is None else list(_list_asked(meeting.only))
            if not mine & {*meeting.key} or any(mine & fields_of(e).keys() for e in made):
                raise _OtherError
            return mine
        theirs = tables.get(meeting.versions.stream, frozenset())
        only = meeting.versions.only
        asked = () if only is None else _list_asked(only)
        if any(theirs & fields_of(e).keys() for e in asked):
            raise _OtherError
        if not any(own in mine and other in theirs for own, other in meeting.key):
            raise _OtherError
        return mine

    def _join(self, joined: Joined[SpjUnion]) -> AbstractSet[str]:
        told: AbstractSet[str] = frozenset()
        for number, part in enumerate(joined.parts):
            if part.kind is JoinKind.BEGUN:
                raise _OtherError
            static = part.ever is not None
            if static and (not number or part.kind is JoinKind.UNION):
                raise _OtherError  # which of them have no partner is of all
            names = frozenset[str]() if static else self._list_told(part.query)
            if part.groups is not None:
                names = _group(part.groups, names)
            mine = {f"{number} {n}" for n in names}
            read = set() if part.on is None else {*fields_of(part.on)}
            read |= {v for one, _, other in part.said for v in (one, other)}
            if read & (told | mine):
                raise _OtherError
            if part.kind is JoinKind.UNION:
                told &= {theirs for theirs, own in part.equal if own in mine}
                continue
            met = any(a in told and b in mine for a, b in part.equal)
            if number and not (met or static):
                raise _OtherError
            if part.kind in (JoinKind.INNER, JoinKind.LEFT):
                told |= mine if part.kind is JoinKind.INNER or not number else frozenset()
        told = {name for name, variable in joined.shown if variable in told}
        if joined.row is not None:
            told = _shape(joined.row.shape, told)
            if joined.row.groups is not None:
                told = _group(joined.row.groups, told)
        if joined.numbered is not None:
            if not told & {*joined.numbered.key}:
                raise _OtherError
            told &= {*joined.numbered.columns}
        if joined.distinct and not told:
            raise _OtherError
        return told


def _in_all(sets: Sequence[AbstractSet[str]]) -> AbstractSet[str]:
    """What is in each of some sets."""
    return frozenset(sets[0]).intersection(*sets) if sets else frozenset()


def _is_read(stream: Stream, keys: AbstractSet[str]) -> bool:
    """Whether a column of a stream is computed of its key."""
    made = (c.expression for c in stream.columns if c.expression is not None)
    return any(keys & fields_of(expression).keys() for expression in made)


def _list_asked(condition: Expression) -> Iterator[Expression]:
    """The parts of a condition that ask more of the key than to have a value."""
    match condition:
        case Call(function=Function.AND, arguments=arguments):
            for one in arguments:
                yield from _list_asked(one)
        case Call(
            function=Function.NOT,
            arguments=(Call(function=Function.IS_NULL, arguments=(Field(),)),),
        ):
            return
        case _:
            yield condition


def _shape(groups: Aggregation, told: AbstractSet[str]) -> AbstractSet[str]:
    """The columns with the key of rows with what is computed of them."""
    same = {n for n, e in groups.computed if isinstance(e, Field) and e.column in told}
    read: list[Expression] = [e for _, e in groups.computed if not isinstance(e, Field)]
    read += [] if groups.having is None else [groups.having]
    if any(told & fields_of(e).keys() for e in read):
        raise _OtherError
    computed = {n for n, _ in groups.computed}
    return ((told - computed) | same) & {*groups.columns}


def _group(groups: Aggregation, told: AbstractSet[str]) -> AbstractSet[str]:
    """The columns with the key of what is told of groups."""
    keys = told & {*groups.group}
    if not keys or any(told & {*a.arguments} for a in groups.aggregates):
        raise _OtherError
    if groups.around is None:
        made = _shape(groups, keys)
    else:
        wide = replace(groups, columns=(*groups.columns, *keys))
        made = _group(groups.around, _shape(wide, keys))
    if groups.numbered is not None:
        if not made & {*groups.numbered.key} and not keys & {*groups.numbered.key}:
            raise _OtherError
        made = (made | keys) & {*groups.numbered.columns}
    return made


def _carry(
    query: SpjQuery, tables: Mapping[str, AbstractSet[str]], streams: Mapping[str, Stream]
) -> AbstractSet[str]:
    """The variables of a query that have the key, which all of its rows of streams share."""
    if query.folds is not None or query.closed is not None:
        raise _OtherError
    same = _find_class(query.occurrences, query.conditions, tables, streams)
    return {name for name, output in query.outputs if _has_key(output, same)}


def _find_class(
    occurrences: Sequence[Occurrence],
    conditions: Sequence[Condition],
    tables: Mapping[str, AbstractSet[str]],
    streams: Mapping[str, Stream],
) -> AbstractSet[Attribute]:
    """The attributes that have the key: of each row of a stream, one at least, all of them equal,
    and in no other condition than that they have a value."""
    timed = [o for o in occurrences if o.table in streams]
    every = {Attribute(o.alias, c) for o in timed for c in tables.get(o.table, ())}
    if not timed:
        raise _OtherError
    first = [a for a in every if a.alias == timed[0].alias]
    for start in first:
        same = {start}
        grown = True
        while grown:
            grown = False
            for c in conditions:
                if isinstance(c, Compare) and c.op is Op.EQ and isinstance(c.right, Attribute):
                    sides = {c.left, c.right}
                    if not c.offset and sides & same and not sides <= same:
                        same |= sides
                        grown = True
        # several columns of one row have the key, too
        same |= {a for a in every if any(b.alias == a.alias and b in every for b in same)}
        alone = all(any(a.alias == o.alias and a in every for a in same) for o in timed)
        if alone and not any(_asks(c, same) for c in conditions):
            return same
    raise _OtherError


def _asks(condition: Condition, same: AbstractSet[Attribute]) -> bool:
    """Whether a condition asks something else of the key than to have a value, or that of others
    with it."""
    if isinstance(condition, NotNull | IsNull):
        return False
    read = set(condition_attributes(condition))
    if not read & same:
        return False
    plain = isinstance(condition, Compare) and condition.op is Op.EQ and not condition.offset
    return not (plain and read <= same)


def _has_key(output: Output, same: AbstractSet[Attribute]) -> bool:
    """Whether an output is the key, or made of it alone."""
    match output:
        case LiteralOutput(value=value) | NullOutput(value=value):
            return value in same
        case IriOutput() | TemplateLiteralOutput():
            read = output_attributes(output)
            return len(read) == 1 and read[0] in same
        case _:
            return False


def _carry_view(
    view: View, tables: Mapping[str, AbstractSet[str]], streams: Mapping[str, Stream]
) -> AbstractSet[str]:
    """The columns of a view that have the key, in all of its branches."""
    told = {c.name for c in view.table.columns}
    for branch in view.branches:
        same = _find_class(branch.occurrences, branch.conditions, tables, streams)
        told &= {
            made.name
            for column, made in zip(branch.columns, view.table.columns, strict=True)
            if isinstance(column, Attribute) and column in same
        }
    if view.without or not told:
        raise _OtherError
    return told
