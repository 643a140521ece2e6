"""By which column of each stream a query is told of each value by itself."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice, product
from typing import TypeAlias

from ontoweir.checker.witness.growth.compute_value import NoRowError
from ontoweir.checker.witness.growth.grow_columns import grow_columns, has_many
from ontoweir.checker.witness.keyed.carry_keys import (
    NO_KEYS,
    KeyNames,
    KeyTables,
    OtherKeysError,
    carry_query,
    carry_view,
    unite_keys,
)
from ontoweir.checker.witness.keyed.find_width import find_width
from ontoweir.mappings.model.catalog import (
    Catalog,
    Column,
    Meeting,
    Stream,
)
from ontoweir.mappings.model.expression import Call, Expression, Field, Function, fields_of
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.model.add_views import extend_catalog, tables_of
from ontoweir.rewriter.model.aggregation import Aggregation
from ontoweir.rewriter.model.joined import Joined, JoinKind
from ontoweir.rewriter.model.spj import (
    Attribute,
    Block,
    LiteralOutput,
    SpjQuery,
    SpjUnion,
)
from ontoweir.rewriter.standing.answers_of import answers_of
from ontoweir.rewriter.windows.choose_emit import has_updates

Keys: TypeAlias = Mapping[str, Column]
"""Of each stream, the column that is the key; it may be one that is computed."""

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
    columns = [{c.name: c for c in _list_free(catalog.streams[n])} for n in names]
    for wide in (extend_catalog(catalog, one) for one in _list_unions(union)):
        for mine, name in zip(columns, names, strict=True):
            mine |= {c.name: c for c in _list_computed(wide.streams[name])}
    shared = [c for c in (columns[0] if names else ()) if all(c in mine for mine in columns)]
    others = product(*columns) if 1 < len(names) <= _FEW else ()
    choices = chain([(c,) * len(names) for c in shared], others)
    for chosen in dict.fromkeys(islice(choices, _MOST)):
        keys = {n: of[c] for n, of, c in zip(names, columns, chosen, strict=True)}
        if _Told(catalog, keys).is_apart(union):
            yield keys


def read_tables(union: SpjUnion) -> set[str]:
    """The tables of the catalog that a query reads, in its parts too."""
    if union.joined is None:
        return tables_of(union)
    return set().union(*(read_tables(part.query) for part in union.joined.parts))


def _list_unions(union: SpjUnion) -> Iterator[SpjUnion]:
    """A query, and those that it is made of."""
    yield union
    parts = () if union.joined is None else union.joined.parts
    for inner in (*(p.query for p in parts), *(q for b in union.blocks for q in b.queries)):
        yield from _list_unions(inner)


def _list_free(stream: Stream) -> Iterator[Column]:
    """The columns of a stream whose values may be ever greater."""
    tied = {n for r in stream.references for n in r.columns}
    for column in stream.columns:
        made = column.expression is not None or column.bucket is not None
        if column.name not in tied and not made and has_many(column):
            yield column


def _list_computed(stream: Stream) -> Iterator[Column]:
    """The columns that are computed of a row, and have values without end."""
    for column in stream.columns:
        if column.expression is not None:
            with suppress(NoRowError):
                grow_columns(stream, column.expression)
                yield column


def is_plain(block: Block) -> bool:
    """Whether a block's rows are the answers of its query, at the time of their last row; or its
    groups, when their bucket of time has ended, or as they become."""
    absent = block.absence is not None and (block.absence.parts or block.absence.held)
    if block.meeting is not None or absent or block.between is not None:
        return False
    union, groups = block.union, block.union.aggregation
    if union.standing or union.joined or union.ends or union.begins:
        return False
    if groups is None:
        return block.time is None or block.time[1] == 0
    whole = groups.panes is None and groups.session_us is None
    return whole and (find_end(block) is not None or is_of_updates(block))


def is_of_updates(block: Block) -> bool:
    """Whether a block's rows are groups as they become, of all rows so far."""
    groups = block.union.aggregation
    alone = groups is not None and groups.group and groups.around is None
    return bool(alone) and block.time is None and has_updates(block.union)


def find_end(block: Block) -> tuple[str, int] | None:
    """By which variable of the groups of a block, and how many µs after it, each group is final:
    when its bucket of time has ended (None: that is not known)."""
    groups, union = block.union.aggregation, block.union
    if groups is None:
        return None
    if block.time is not None:
        return block.time if block.time[0] in groups.group else None
    return next(iter(_list_widths(union).items()), None)


def _list_widths(union: SpjUnion) -> dict[str, int]:
    """The variables by which a query groups that are the start of a bucket of time, with how long
    these are."""
    widths = {
        (table, column.name): find_width(bucket)
        for table, column in union.buckets
        if (bucket := column.bucket) is not None and not (bucket.ends or bucket.behind_us)
    }
    made = {}
    for name in union.aggregation.group if union.aggregation is not None else ():
        found = {_find_width_of(query, name, widths) for query in union.disjuncts}
        if len(found) == 1 and (width := found.pop()):
            made[name] = width
    return made


def _find_width_of(
    query: SpjQuery, name: str, widths: Mapping[tuple[str, str], int | None]
) -> int | None:
    """How long the buckets are whose start a variable is (None: it is none)."""
    match dict(query.outputs)[name]:
        case LiteralOutput(value=Attribute(alias=alias, column=column)):
            table = next(o.table for o in query.occurrences if o.alias == alias)
            return widths.get((table, column))
        case _:
            return None


class _Told:
    """What carries the key, in the parts of a query: each raises OtherKeysError where something is
    told of rows with several values together."""

    def __init__(self, catalog: Catalog, keys: Keys) -> None:
        self.catalog, self.keys = catalog, keys

    def is_apart(self, union: SpjUnion) -> bool:
        """Whether what is told of each value is told by itself."""
        try:
            self._list_told(union)
        except OtherKeysError:
            return False
        return True

    def _list_told(self, union: SpjUnion, *, inside: bool = False) -> KeyNames:
        """The columns with the key; `inside`: groups of buckets of time are told when these have
        ended."""
        if union.joined is not None:
            return self._join(union.joined)
        streams = extend_catalog(self.catalog, union).streams
        tables = self._list_tables(union, streams)
        if union.statics or any(self._is_read(streams[n], own) for n, own in tables.items()):
            raise OtherKeysError
        carried = [(q, carry_query(q, tables, streams)) for q in union.disjuncts]
        standing = union.standing
        answers = answers_of(union.disjuncts, standing)
        told = unite_keys([names for query, names in carried if query in answers])
        if standing is not None:
            if not unite_keys([names for _, names in carried]).have & {*standing.key}:
                raise OtherKeysError
            told = told.show({*union.variables} - {*standing.hidden})
            if standing.groups is not None:
                told = _group(standing.groups, told)
            elif standing.distinct and not told.have:
                raise OtherKeysError
        elif union.aggregation is not None:
            if not inside and any(find_width(c.bucket) for _, c in union.buckets):
                raise OtherKeysError  # when its groups are final is not asked here
            told = _group(union.aggregation, told)
        if told.is_made((*union.ends, *union.begins)) or (union.distinct and not told.have):
            raise OtherKeysError
        return told

    def _list_tables(self, union: SpjUnion, streams: Mapping[str, Stream]) -> dict[str, KeyNames]:
        """The columns with the key of the tables that a query reads; static ones have none, and are
        not among them."""
        tables = {n: KeyNames({c.name}, {c.name, *_fields(c)}) for n, c in self.keys.items()}
        waiting = {b.stream.name: b for b in union.blocks}
        views = {v.name: v for v in union.views}
        while waiting or views:
            before = len(waiting) + len(views)
            for name, block in list(waiting.items()):
                if block.meeting is None:
                    if not is_plain(block):
                        raise OtherKeysError
                    tables[name] = self._list_told(block.union, inside=True)
                    del waiting[name]
                elif block.meeting.base in tables:
                    tables[name] = _meet(block.meeting, tables)
                    del waiting[name]
            for name, view in list(views.items()):
                if not any(t in waiting or t in views for t in view.tables if t != name):
                    if view.timestamp is not None:
                        tables[name] = carry_view(view, tables, streams)
                    del views[name]
            if len(waiting) + len(views) == before:
                raise OtherKeysError
        return tables

    def _is_read(self, stream: Stream, names: KeyNames) -> bool:
        """Whether another column of a stream is computed of its key."""
        key = self.keys.get(stream.name)
        others = (c for c in stream.columns if key is None or c.name != key.name)
        return any(names.is_made(_fields(column)) for column in others)

    def _join(self, joined: Joined[SpjUnion]) -> KeyNames:
        have, made = set[str](), set[str]()
        for number, part in enumerate(joined.parts):
            if part.kind is JoinKind.BEGUN:
                raise OtherKeysError
            static = part.ever is not None
            if static and (not number or part.kind is JoinKind.UNION):
                raise OtherKeysError  # which of them have no partner is of all
            mine = NO_KEYS if static else self._list_told(part.query)
            if part.groups is not None:
                mine = _group(part.groups, mine)
            mine = mine.number(number)
            made |= mine.made
            read = set() if part.on is None else {*fields_of(part.on)}
            read |= {v for one, _, other in part.said for v in (one, other)}
            if read & made:
                raise OtherKeysError
            if part.kind is JoinKind.UNION:
                have &= {theirs for theirs, own in part.equal if own in mine.have}
                made |= {theirs for theirs, own in part.equal if own in mine.made}
                continue
            if number and not (static or any(a in have and b in mine.have for a, b in part.equal)):
                raise OtherKeysError
            if part.kind is JoinKind.INNER or not number:
                have |= mine.have
        told = KeyNames(
            {name for name, variable in joined.shown if variable in have},
            {name for name, variable in joined.shown if variable in made},
        )
        if joined.row is not None:
            told = _shape(joined.row.shape, told)
            if joined.row.groups is not None:
                told = _group(joined.row.groups, told)
        if joined.numbered is not None:
            if not told.have & {*joined.numbered.key}:
                raise OtherKeysError
            told = told.show(joined.numbered.columns)
        if joined.distinct and not told.have:
            raise OtherKeysError
        return told


def _meet(meeting: Meeting | Preceding, tables: KeyTables) -> KeyNames:
    """The columns of rows with what they meet, of the same key."""
    mine = tables[meeting.base]
    if isinstance(meeting, Preceding):
        made = [c.argument for c in meeting.columns if c.argument is not None]
        made += [] if meeting.only is None else list(_list_asked(meeting.only))
        made += [order.by for order in meeting.ties]
        if not mine.have & {*meeting.key} or any(mine.is_made(fields_of(e)) for e in made):
            raise OtherKeysError
        return mine
    theirs = tables.get(meeting.versions.stream, NO_KEYS)
    asked = () if meeting.versions.only is None else _list_asked(meeting.versions.only)
    if any(theirs.is_made(fields_of(e)) for e in asked):
        raise OtherKeysError
    if not any(own in mine.have and other in theirs.have for own, other in meeting.key):
        raise OtherKeysError
    return KeyNames(mine.have, mine.made | {n for c, n in meeting.columns if c in theirs.made})


def _fields(column: Column) -> "Mapping[str, Field]":
    """The columns that a column is computed of."""
    return {} if column.expression is None else fields_of(column.expression)


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


def _shape(groups: Aggregation, told: KeyNames) -> KeyNames:
    """The columns with the key of rows with what is computed of them."""
    read: list[Expression] = [e for _, e in groups.computed if not isinstance(e, Field)]
    read += [] if groups.having is None else [groups.having]
    if any(told.is_made(fields_of(e)) for e in read):
        raise OtherKeysError
    plain = {n: e.column for n, e in groups.computed if isinstance(e, Field)}
    computed = {n for n, _ in groups.computed}
    have, made = (
        (names - computed) | {n for n, column in plain.items() if column in names}
        for names in (told.have, told.made)
    )
    return KeyNames(have, made).show(groups.columns)


def _group(groups: Aggregation, told: KeyNames) -> KeyNames:
    """The columns with the key of what is told of groups."""
    keys = told.show(groups.group)
    if not keys.have or any(told.is_made(a.arguments) for a in groups.aggregates):
        raise OtherKeysError
    if groups.around is None:
        made = _shape(groups, keys)
    else:
        wide = replace(groups, columns=(*groups.columns, *keys.made))
        made = _group(groups.around, _shape(wide, keys))
    if groups.numbered is not None:
        if not (made.have | keys.have) & {*groups.numbered.key}:
            raise OtherKeysError
        both = KeyNames(made.have | keys.have, made.made | keys.made)
        made = both.show(groups.numbered.columns)
    return made
