"""Says which conditions of a selection, and which declared domains, exclude each other."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ontoweir.diagnostics import Label, LabelKind, Reason
from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import Catalog, Column
from ontoweir.rewriter.algebra.find_contradiction import find_contradiction
from ontoweir.rewriter.algebra.print_spj import show_condition
from ontoweir.rewriter.model.spj import Attribute, Compare, Condition, SpjQuery


def explain_contradiction(
    query: SpjQuery, catalog: Catalog, why: Callable[[SpjQuery, Catalog], str | None]
) -> Reason | None:
    """What excludes every row, and under it the conditions that exclude each other, none of which
    can be left out, and the declared domains that do so with them; None where nothing does. What
    nobody wrote (without a place) is left out first.

    Args:
        query: a selection.
        catalog: what is declared of its tables.
        why: why a query has no row, as `find_contradiction` says it (None: it may have).
    """
    kept = list(query.conditions)
    if why(query, catalog) is None:
        return None
    for condition in sorted(query.conditions, key=lambda c: c.source is not None):
        rest = [c for c in kept if c is not condition]
        if why(replace(query, conditions=tuple(rest)), catalog) is not None:
            kept = rest
    core = replace(query, conditions=tuple(kept))
    sides = [_show(c) for c in kept]
    if find_contradiction(core, _forget_domains(core, catalog)) is None:
        sides += [_declare(name, column) for name, column in _domains(core, catalog)]
    return Reason(why(core, catalog) or "", because=tuple(dict.fromkeys(sides)))


def _show(condition: Condition) -> Reason:
    text, source = show_condition(condition), condition.source
    if source is None:
        return Reason(text)
    if isinstance(condition, Compare) and condition.line is not None:
        source = replace(source, line=condition.line)
    return _side("query", source, text)


def _declare(table: str, column: Column) -> Reason:
    if column.enum is not None:
        few = ", ".join(map(str, column.enum[:5])) + ", …" * (len(column.enum) > 5)
        text = f"{table}.{column.name} is declared as one of {few}"
    else:
        low, high = column.minimum, column.maximum
        said = [f"at least {low}"] * (low is not None) + [f"at most {high}"] * (high is not None)
        text = f"{table}.{column.name} is declared as {' and '.join(said)}"
    return Reason(text) if column.source is None else _side("catalog", column.source, text)


def _side(kind: LabelKind, source: Source, text: str) -> Reason:
    return Reason(text, Label(kind, source, text))


def _domains(query: SpjQuery, catalog: Catalog) -> Iterator[tuple[str, Column]]:
    """The declared domains of the columns that the conditions name, with their tables."""
    tables = {o.alias: o.table for o in query.occurrences}
    named: dict[Attribute, None] = {}
    for condition in query.conditions:
        sides = (
            (condition.left, condition.right)
            if isinstance(condition, Compare)
            else (condition.attribute,)
        )
        named.update((side, None) for side in sides if isinstance(side, Attribute))
    for attribute in named:
        column = catalog.table(tables[attribute.alias]).column(attribute.column)
        declared = () if column is None else (column.enum, column.minimum, column.maximum)
        if column is not None and any(limit is not None for limit in declared):
            yield tables[attribute.alias], column


def _forget_domains(query: SpjQuery, catalog: Catalog) -> Catalog:
    """The catalog without the domains of the query's tables."""
    used = {o.table for o in query.occurrences}

    def bare(columns: Iterable[Column]) -> tuple[Column, ...]:
        return tuple(replace(c, minimum=None, maximum=None, enum=None) for c in columns)

    streams = {**catalog.streams}
    streams |= {n: replace(s, columns=bare(s.columns)) for n, s in streams.items() if n in used}
    relations = {**catalog.relations}
    relations |= {n: replace(r, columns=bare(r.columns)) for n, r in relations.items() if n in used}
    return replace(catalog, streams=streams, relations=relations)
