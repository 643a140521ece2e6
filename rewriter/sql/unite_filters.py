"""SELECTs that differ only in the filters of one occurrence, as one SELECT with OR."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

from ontoweir.mappings.model.catalog import Catalog, Scalar
from ontoweir.rewriter.algebra.equality_classes import (
    Types,
    condition_attributes,
    valued_attributes,
)
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.algebra.list_domains import DomainFilter, list_domains
from ontoweir.rewriter.algebra.list_lags import list_lags
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    NotNull,
    OneOf,
    Op,
    SpjQuery,
)

Filter: TypeAlias = tuple[Condition, ...]
"""A conjunction of comparisons with constants."""


@dataclass(frozen=True, slots=True)
class Either:
    """One of several filters of an occurrence holds; at least two, none empty."""

    alias: str
    alternatives: tuple[Filter, ...]


Conjunct: TypeAlias = Condition | DomainFilter | Either
"""A conjunct of WHERE."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A disjunct, or several that differ in filters: `query` without its conditions, which are
    `conjuncts`, and of whose occurrences it has every provenance."""

    query: SpjQuery
    conjuncts: tuple[Conjunct, ...]


def list_conjuncts(query: SpjQuery, catalog: Catalog) -> tuple[Conjunct, ...]:
    """All that WHERE says of an SPJ query: its conditions, the declared domains of streams
    (a view's branches say theirs), and declared lags, but for those that only say what is kept in
    memory."""
    types = Types(catalog, query.occurrences)
    domains = (
        d
        for d in list_domains(query, catalog)
        if types.tables[d.attribute.alias].data.format != "derived"
    )
    lags = (
        c
        for _, lag, c in list_lags(query, catalog)
        if c not in query.conditions and not (lag.breach is not None and lag.breach.spill)
    )
    return (*query.conditions, *domains, *dict.fromkeys(lags))


def unite_filters(
    disjuncts: Sequence[SpjQuery], catalog: Catalog, *, distinct: bool
) -> list[Selection]:
    """The disjuncts, those that differ in comparisons of one occurrence with constants as one: the
    same rows, and (but for `distinct`) as often.

    Filters that do not exclude each other stay apart where rows count: OR counts a row once. An
    attribute must have a value in all of the disjuncts or in none. Grouped by hashes, once for each
    occurrence, until nothing meets any more: a product of filters becomes a conjunction of ORs.
    """
    items = [_read(query, catalog) for query in disjuncts]
    size = -1
    while size != len(items):
        size = len(items)
        for alias in dict.fromkeys(o.alias for i in items for o in i.query.occurrences):
            items = _unite(alias, items, catalog, distinct)
    return items


def _read(query: SpjQuery, catalog: Catalog) -> Selection:
    conjuncts = tuple(
        c if isinstance(c, DomainFilter | Either) else replace(c, source=None)
        for c in list_conjuncts(query, catalog)
    )
    return Selection(replace(query, conditions=()), tuple(dict.fromkeys(conjuncts)))


@dataclass(slots=True)
class _Group:
    """Selections that may become one: the first, and the filters of all so far."""

    first: Selection
    filters: list[Filter]
    members: list[Selection]


def _unite(
    alias: str, items: Iterable[Selection], catalog: Catalog, distinct: bool
) -> list[Selection]:
    """Those that differ in the filters of one occurrence as one, in the place of the first."""
    groups: dict[Hashable, list[_Group]] = {}
    order: list[_Group] = []
    for item in items:
        types = Types(catalog, item.query.occurrences)
        filters = _filters(alias, item, types)
        shared = frozenset(c for c in item.conjuncts if not _is_own(alias, c, types))
        key: Hashable = (item.query.occurrences, item.query.outputs, shared, _valued(alias, item))
        near = groups.setdefault(key, []) if all(filters) else []
        for group in near:
            if distinct or _exclude(filters, group.filters, item.query, catalog):
                group.filters += (f for f in filters if f not in group.filters)
                group.members.append(item)
                break
        else:
            near.append(_Group(item, list(filters), [item]))
            order.append(near[-1])
    return [_write(alias, group, catalog) for group in order]


def _is_own(alias: str, conjunct: Conjunct, types: Types) -> bool:
    """Whether a conjunct is about that occurrence alone, and compares no time."""
    match conjunct:
        case Either():
            return conjunct.alias == alias
        case DomainFilter(attribute=attribute) | NotNull(attribute=attribute):
            return attribute.alias == alias
        case _:
            return _is_comparison(alias, conjunct, types)


def _is_comparison(alias: str, conjunct: Conjunct, types: Types) -> bool:
    """Whether it compares an attribute of that occurrence, which is no time, with constants."""
    match conjunct:
        case OneOf(attribute=left) | Compare(left=left, right=Constant()):
            return left.alias == alias and types.step_of(left) is None
        case _:
            return False


def _filters(alias: str, item: Selection, types: Types) -> list[Filter]:
    """What a selection's comparisons say of an occurrence, as a disjunction."""
    plain: list[Condition] = []
    choices: list[tuple[Filter, ...]] = []
    for c in item.conjuncts:
        if isinstance(c, Either):
            if c.alias == alias:
                choices.append(c.alternatives)
        elif not isinstance(c, DomainFilter) and _is_comparison(alias, c, types):
            plain.append(c)
    return [(*plain, *(c for part in chosen for c in part)) for chosen in product(*choices)]


def _valued(alias: str, item: Selection) -> frozenset[Attribute]:
    """The attributes of an occurrence that are said to have a value."""
    conditions = (
        c
        for conjunct in item.conjuncts
        if not isinstance(conjunct, DomainFilter)
        for c in (conjunct.alternatives[0] if isinstance(conjunct, Either) else (conjunct,))
    )
    return frozenset(a for c in conditions for a in valued_attributes(c) if a.alias == alias)


def _exclude(
    mine: Iterable[Filter], theirs: Iterable[Filter], query: SpjQuery, catalog: Catalog
) -> bool:
    """Whether no row satisfies a filter of either side."""
    return all(
        find_contradiction(replace(query, conditions=(*a, *b)), catalog) is not None
        for a, b in product(mine, theirs)
    )


def _write(alias: str, group: _Group, catalog: Catalog) -> Selection:
    if len(group.members) == 1:
        return group.first
    query = group.first.query
    types = Types(catalog, query.occurrences)
    kept: list[Conjunct] = [c for c in group.first.conjuncts if not _is_own(alias, c, types)]
    common = [c for c in group.filters[0] if all(c in f for f in group.filters)]
    rest = [tuple(c for c in f if c not in common) for f in group.filters]
    kept += common
    if all(rest):
        kept.append(_list_values(rest) or Either(alias, tuple(dict.fromkeys(rest))))
    compared = {a for c in common for a in condition_attributes(c)}
    everywhere = [{a for c in f for a in condition_attributes(c)} for f in group.filters]
    compared |= set.intersection(*everywhere)
    valued = sorted(_valued(alias, group.first) - compared)
    joined = {
        a for c in kept if isinstance(c, Compare) and c not in common for a in valued_attributes(c)
    }
    kept += (NotNull(a) for a in valued if a not in joined)
    kept += _join_domains(
        c
        for member in group.members
        for c in member.conjuncts
        if isinstance(c, DomainFilter) and c.attribute.alias == alias
    )
    provenance = dict.fromkeys(p for member in group.members for p in member.query.provenance)
    return Selection(replace(query, provenance=tuple(provenance)), tuple(kept))


def _list_values(filters: Sequence[Filter]) -> OneOf | None:
    """The constants of which one attribute equals one, if that is all that filters say."""
    listed: list[tuple[Attribute, Scalar]] = []
    for f in filters:
        match f:
            case (OneOf(attribute=attribute, values=several),):
                listed += [(attribute, v) for v in several]
            case (Compare(left=attribute, op=Op.EQ, right=Constant(value=value)),):
                listed.append((attribute, value))
            case _:
                return None
    if len({attribute for attribute, _ in listed}) > 1:
        return None
    return OneOf(listed[0][0], tuple(dict.fromkeys(v for _, v in listed)))


def _join_domains(domains: Iterable[DomainFilter]) -> list[DomainFilter]:
    """What any of them says of each attribute."""
    joined: dict[Attribute, DomainFilter] = {}
    for d in domains:
        known = joined.get(d.attribute, d)
        joined[d.attribute] = replace(
            known,
            minimum=d.minimum if known.minimum is None else known.minimum,
            maximum=d.maximum if known.maximum is None else known.maximum,
            enum=known.enum or d.enum,
        )
    return list(joined.values())
