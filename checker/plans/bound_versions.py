"""A bound on the versions that are kept of a relation that changes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ontoweir.checker.model.declarations import (
    Declaration,
    domain_declaration,
    list_declarations,
)
from ontoweir.checker.model.normal_form import NormalForm, Statistics
from ontoweir.checker.model.plan import Bound
from ontoweir.checker.normalise.normalise_query import normalise_query
from ontoweir.checker.plans.bound_table import bound_groups
from ontoweir.mappings.model.catalog import Catalog, Column, Meeting
from ontoweir.rewriter.model.spj import Attribute, NotNull, Occurrence, SpjQuery


@dataclass(frozen=True, slots=True)
class KeptVersions:
    """`bound`: on the latest versions that are kept (None: `unbounded`, columns of the key, may
    have any number of values); `conditions`: the declarations that it rests on."""

    bound: Bound | None
    unbounded: tuple[str, ...]
    conditions: tuple[Declaration, ...]


def bound_versions(meeting: Meeting, catalog: Catalog, statistics: Statistics) -> KeptVersions:
    """One row is kept for each key that may be asked for, whatever the other columns are
    (change.md section 6): a key of values that the rows may have which meet the versions, as far as
    these declare them, and that the versions may have. Where versions are whole, no more than those
    of one time are kept.

    Args:
        meeting: how rows meet versions.
        catalog: with the streams of answers that the query reads.
        statistics: what is known of the static data.
    """
    updates, base = catalog.streams[meeting.versions.stream], catalog.streams[meeting.base]
    lent: dict[str, Column] = {}
    asked: list[str] = []
    for own, name in meeting.key:
        if not isinstance(own, str):
            continue
        asked.append(name)
        mine, theirs = base.column(own), updates.column(name)
        if (
            mine is not None
            and theirs is not None
            and _has_domain(mine)
            and not _has_domain(theirs)
        ):
            lent[name] = mine
    columns = tuple(
        replace(c, minimum=of.minimum, maximum=of.maximum, enum=of.enum)
        if (of := lent.get(c.name)) is not None
        else c
        for c in updates.columns
    )
    known = {**catalog.streams, updates.name: replace(updates, columns=columns, keys=(), lags=())}
    wide = replace(catalog, streams=known)
    attributes = [Attribute(updates.name, name) for name in asked]
    read = (Occurrence(updates.name, updates.name),)
    query = SpjQuery(read, tuple(map(NotNull, attributes)), ())
    kept = bound_by_domains(query, attributes, wide, statistics)
    rate = updates.max_per_timestamp
    if meeting.versions.whole and rate is not None and _is_more(kept.bound, rate):
        return KeptVersions(Bound(rate, f"R({updates.name})"), (), ())
    shown = tuple(_name(d, meeting, catalog, lent) for d in kept.conditions)
    return replace(kept, conditions=shown)


def _is_more(bound: Bound | None, rows: int) -> bool:
    return bound is None or bound.rows is None or bound.rows > rows


def bound_by_domains(
    query: SpjQuery, attributes: Sequence[Attribute], catalog: Catalog, statistics: Statistics
) -> KeptVersions:
    """How many values some attributes of a query's matches can have together.

    Args:
        query: a disjunct.
        attributes: of it.
        catalog: with its buckets and derived columns.
        statistics: what is known of the static data.
    """

    def normalise(use: Callable[[Declaration], bool]) -> NormalForm:
        return normalise_query(
            query, distinct=True, catalog=catalog, statistics=statistics, use=use
        )

    form = normalise(lambda _: True)
    known = [a for a in attributes if a in form.class_of]
    classes = [form.class_of[a] for a in known]
    endless = [str(a) for a, c in zip(known, classes, strict=True) if not _ends(form, c)]
    if endless:
        return KeptVersions(None, tuple(endless), ())
    tables = {o.alias: o.table for o in query.occurrences}
    asked = {(tables[a.alias], a.column) for a in attributes}
    needed = [
        d
        for d in list_declarations(query, catalog)
        if d.columns and all((d.table, c) in asked for c in d.columns)
    ]
    for declaration in list(needed):
        rest = [d for d in needed if d != declaration]
        less = normalise(partial(_is_among, rest))
        if all(_ends(less, less.class_of[a]) for a in known):
            needed = rest
    return KeptVersions(bound_groups(form, classes), (), tuple(needed))


def _is_among(declared: Sequence[Declaration], one: Declaration) -> bool:
    return one in declared


def _ends(form: NormalForm, value: int) -> bool:
    return form.classes[value].domain.finite


def _has_domain(column: Column) -> bool:
    both = column.minimum is not None and column.maximum is not None
    return column.enum is not None or both


def _name(
    declaration: Declaration, meeting: Meeting, catalog: Catalog, lent: dict[str, Column]
) -> Declaration:
    """The declaration, at the table that has it."""
    (name,) = declaration.columns[:1]
    if declaration.kind == "domain" and name in lent:
        return domain_declaration(catalog.streams[meeting.base], lent[name])
    return declaration
