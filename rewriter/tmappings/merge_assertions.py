"""Merges the assertions of a predicate that differ in the constants of one column only."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import assert_never

from ontoweir.mappings.compile.rename_aliases import rename_column, rename_source, rename_term
from ontoweir.mappings.model.assertion import (
    MappingAssertion,
    SourceColumn,
    SourceCompare,
    SourceCondition,
    SourceConstant,
    SourceNotNull,
    SourceOneOf,
    TriplesMapName,
    term_columns,
)
from ontoweir.mappings.model.catalog import Catalog, Scalar, Stream


def merge_assertions(
    assertions: Sequence[MappingAssertion], catalog: Catalog
) -> tuple[MappingAssertion, ...]:
    """The assertions, those of one source and the same terms that differ only in the constants
    that one column is equated with as one, with the list of all these constants.

    A row has one value in a column, so two that share no constant make each triple from different
    rows: every row and its multiplicity stay. Two that share one are not merged. Grouped by hashes,
    once for each column, until nothing merges any more.

    Args:
        assertions: of one class or one property; none is contained in another.
        catalog: the streams, whose timestamps are not listed.
    """
    items = [_read(a, catalog) for a in assertions]
    size = -1
    while size != len(items):
        size = len(items)
        for column in dict.fromkeys(c for item in items for c in item.lists):
            items = list(_merge_by(column, items))
    return tuple(_write(item) for item in items)


def split_lists(assertion: MappingAssertion) -> Iterator[MappingAssertion]:
    """The assertion for each constant that its lists have, of several lists for each combination:
    what another one contains of it can be left out."""
    conditions = assertion.source.conditions
    choices = [
        [SourceCompare(c.column, "=", SourceConstant(v)) for v in c.values]
        if isinstance(c, SourceOneOf)
        else [c]
        for c in conditions
    ]
    for chosen in product(*choices):
        yield replace(assertion, source=replace(assertion.source, conditions=chosen))


@dataclass(frozen=True, slots=True)
class _Item:
    """An assertion as it is compared: `same` must be equal, and `lists` but for one column.

    Aliases are the user's, so columns are of tables by their position. `condition`: what in the
    assertion says the list. `joined`: what has been merged into it.
    """

    assertion: MappingAssertion
    same: Hashable
    lists: Mapping[SourceColumn, frozenset[Scalar]]
    condition: Mapping[SourceColumn, SourceCondition]
    joined: tuple[MappingAssertion, ...] = ()


def _read(assertion: MappingAssertion, catalog: Catalog) -> _Item:
    tables = {t.alias: t.table for t in assertion.source.tables}
    aliases = {a: str(n) for n, a in enumerate(sorted(tables, key=lambda a: tables[a]))}
    found: dict[SourceColumn, list[SourceCondition]] = {}
    for condition in dict.fromkeys(assertion.source.conditions):
        listed = _listed(condition)
        if listed is not None and not _is_time(listed[0], tables, catalog):
            found.setdefault(listed[0], []).append(condition)
    own = {column: made[0] for column, made in found.items() if len(made) == 1}
    if not own:  # it merges with nothing
        return _Item(assertion, None, {}, {})
    listing = set(own.values())
    others = tuple(c for c in assertion.source.conditions if c not in listing)
    rest = rename_source(replace(assertion.source, conditions=others), aliases)
    lists, condition_of = {}, {}
    for column, condition in own.items():
        renamed = rename_column(column, aliases)
        condition_of[renamed], lists[renamed] = condition, frozenset(_values(condition))
    terms = tuple(
        None if t is None else rename_term(t, aliases)
        for t in (assertion.subject, assertion.object, *assertion.graphs)
    )
    valued = {c for t in terms[:2] for c in term_columns(t)} | set(lists)
    valued |= {c for condition in rest.conditions for c in _compared(condition)}
    same = (
        assertion.predicate,
        frozenset(rest.tables),
        frozenset(
            c for c in rest.conditions if not isinstance(c, SourceNotNull) or c.column not in valued
        ),
        terms,
        None if assertion.stream_alias is None else aliases[assertion.stream_alias],
        assertion.repeats,
    )
    return _Item(assertion, same, lists, condition_of)


def _is_time(column: SourceColumn, tables: Mapping[str, str], catalog: Catalog) -> bool:
    table = catalog.table(tables[column.alias])
    return isinstance(table, Stream) and column.column == table.timestamp


def _merge_by(column: SourceColumn, items: Iterable[_Item]) -> Iterator[_Item]:
    """Those that differ in the constants of `column` only, in the place of the first."""
    groups: dict[Hashable, tuple[_Item, set[Scalar], list[_Item]]] = {}
    for number, item in enumerate(items):
        key: Hashable = number
        values = item.lists.get(column)
        if values is not None:
            others = frozenset((c, v) for c, v in item.lists.items() if c != column)
            _, listed, joined = groups.setdefault((item.same, others), (item, set(), []))
            if listed.isdisjoint(values):
                listed |= values
                joined.append(item)
                continue
        groups[key] = item, set(), [item]
    for first, listed, (_, *more) in groups.values():
        yield (
            first
            if not more
            else replace(
                first,
                lists={**first.lists, column: frozenset(listed)},
                joined=(*first.joined, *(a for m in more for a in (m.assertion, *m.joined))),
            )
        )


def _write(item: _Item) -> MappingAssertion:
    first = item.assertion
    if not item.joined:
        return first
    changed: dict[SourceCondition, SourceCondition] = {}
    for column, condition in item.condition.items():
        listed = _listed(condition)
        assert listed is not None
        if len(item.lists[column]) > len(listed[1]):
            changed[condition] = SourceOneOf(listed[0], tuple(sorted(item.lists[column])))
    conditions = tuple(changed.get(c, c) for c in first.source.conditions)
    own = TriplesMapName(first.id, first.place)
    names = (n for a in item.joined for n in (TriplesMapName(a.id, a.place), *a.others))
    because = (b for a in (first, *item.joined) for b in a.because)
    return replace(
        first,
        source=replace(first.source, conditions=conditions),
        because=tuple(dict.fromkeys(because)),
        others=tuple(n for n in dict.fromkeys((*first.others, *names)) if n != own),
    )


def _listed(condition: SourceCondition) -> tuple[SourceColumn, tuple[Scalar, ...]] | None:
    """A column and the constants of which it equals one."""
    match condition:
        case SourceOneOf(column=column, values=values):
            return column, values
        case SourceCompare(left=column, op="=", right=SourceConstant(value=value)):
            return column, (value,)
        case _:
            return None


def _values(condition: SourceCondition) -> tuple[Scalar, ...]:
    listed = _listed(condition)
    return () if listed is None else listed[1]


def _compared(condition: SourceCondition) -> tuple[SourceColumn, ...]:
    """The columns that are not NULL where the condition holds, by a comparison."""
    match condition:
        case SourceOneOf(column=column):
            return (column,)
        case SourceCompare(left=left, right=right):
            return (left, right) if isinstance(right, SourceColumn) else (left,)
        case SourceNotNull():
            return ()
        case _ as unreachable:
            assert_never(unreachable)
