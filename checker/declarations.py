"""Declared constraints that a verdict may rest on."""

from dataclasses import dataclass
from typing import assert_never

from ontoweir.errors import Source
from ontoweir.mappings.catalog import Catalog, Column, Lag, Stream
from ontoweir.mappings.parse_duration import show_duration
from ontoweir.rewriter.list_lags import list_lags
from ontoweir.rewriter.spj import Attribute, Compare, NotNull, SpjQuery, output_attributes


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared constraint that a verdict may rest on: a column's domain, a reference, a lag."""

    kind: str
    table: str
    columns: tuple[str, ...]
    text: str
    source: Source | None = None


def list_declarations(query: SpjQuery, catalog: Catalog) -> tuple[Declaration, ...]:
    """The declared constraints on the streams' columns that a disjunct mentions."""
    used = set(mentioned_attributes(query))
    found: dict[Declaration, None] = {}
    for occurrence in query.occurrences:
        stream = catalog.streams.get(occurrence.table)
        if stream is None:
            continue
        for column in stream.columns:
            if Attribute(occurrence.alias, column.name) not in used:
                continue
            if column.enum is not None or not (column.minimum is None and column.maximum is None):
                found[domain_declaration(stream, column)] = None
            for reference in stream.references:
                if reference.columns == (column.name,):
                    text = (
                        f"{stream.name}.{column.name} references "
                        f"{reference.relation}.{reference.to[0]}"
                    )
                    found[
                        Declaration("reference", stream.name, (column.name,), text, stream.source)
                    ] = None
    for name, lag, _ in list_lags(query, catalog):
        found[lag_declaration(name, lag)] = None
    return tuple(found)


def lag_declaration(stream: str, lag: Lag) -> Declaration:
    """A declared lag of a stream, as what a verdict may rest on ([B] k-constraints)."""
    columns = ", ".join(f"{a} = {lag.behind}.{b}" for a, b in zip(lag.columns, lag.to, strict=True))
    text = f"{stream} follows {lag.behind} on {columns} within {show_duration(lag.within_us)}"
    return Declaration("lag", stream, lag.columns, text, lag.source)


def domain_declaration(stream: Stream, column: Column) -> Declaration:
    """A column's declared range or enumeration, as what a verdict may rest on."""
    if column.enum is not None:
        text = f"{stream.name}.{column.name} in {{{', '.join(map(str, column.enum))}}}"
    else:
        low = "-∞" if column.minimum is None else column.minimum
        high = "∞" if column.maximum is None else column.maximum
        text = f"{stream.name}.{column.name} in {low}..{high}"
    return Declaration("domain", stream.name, (column.name,), text, column.source)


def mentioned_attributes(query: SpjQuery) -> list[Attribute]:
    """Every attribute a disjunct mentions, once, in order."""
    found: dict[Attribute, None] = {}
    for condition in query.conditions:
        match condition:
            case Compare(left=left, right=right):
                found[left] = None
                if isinstance(right, Attribute):
                    found[right] = None
            case NotNull(attribute=attribute):
                found[attribute] = None
            case _:
                assert_never(condition)
    for _, output in query.outputs:
        for attribute in output_attributes(output):
            found[attribute] = None
    return list(found)
