"""Declared constraints that a verdict may rest on."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import assert_never

from ontoweir.errors import Source
from ontoweir.mappings.expressions.derive_column import read_columns
from ontoweir.mappings.model.catalog import (
    Catalog,
    ClosingRule,
    Column,
    Lag,
    Reference,
    Relation,
    Stream,
)
from ontoweir.mappings.model.parse_duration import show_duration
from ontoweir.mappings.model.show_values import show_values
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses
from ontoweir.rewriter.algebra.list_lags import list_lags
from ontoweir.rewriter.model.aggregation import is_asked
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    IsNull,
    NotNull,
    OneOf,
    SpjQuery,
    output_attributes,
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared constraint that a verdict may rest on: a column's domain ("domain"), a reference
    ("reference"), a lag ("lag"), when a value is closed ("closing"), a key without the timestamp
    ("key"), the size of a static relation ("max_rows")."""

    kind: str
    table: str
    columns: tuple[str, ...]
    text: str
    source: Source | None = None


def list_declarations(query: SpjQuery, catalog: Catalog) -> tuple[Declaration, ...]:
    """The declared constraints that may matter to a disjunct: on columns of its streams that it
    mentions or that are in a key, keys of whole streams, lags, sizes of static relations."""
    used = set(mentioned_attributes(query))
    declarations: dict[Declaration, None] = {}
    relations: dict[str, None] = {}
    for occurrence in query.occurrences:
        stream = catalog.streams.get(occurrence.table)
        if stream is None:
            relations[occurrence.table] = None
            continue
        keys = list_stream_keys(stream)
        keyed = {column for key in keys for column in key}
        mine = {a.column for a in used if a.alias == occurrence.alias}
        wanted = mine | read_columns(stream, mine) | keyed
        for column in stream.columns:
            if column.name not in wanted:
                continue
            if column.enum is not None or not (column.minimum is None and column.maximum is None):
                declarations[domain_declaration(stream, column)] = None
            for reference in stream.references:
                if reference.columns == (column.name,):
                    declarations[reference_declaration(stream, reference)] = None
                    relations[reference.relation] = None
        declarations.update((key_declaration(stream, key), None) for key in keys)
    if query.closed is not None and not is_asked(query.closed):
        declarations[closing_declaration(query.closed.stream, query.closed.rule)] = None
    for name, rule in _list_joined(query, catalog):
        declarations[closing_declaration(name, rule)] = None
    for name, lag, _ in list_lags(query, catalog):
        declarations[lag_declaration(name, lag)] = None
    for name in relations:
        if catalog.relations[name].max_rows is not None:
            declarations[size_declaration(catalog.relations[name])] = None
    return tuple(declarations)


def _list_joined(query: SpjQuery, catalog: Catalog) -> Iterator[tuple[str, ClosingRule]]:
    """The rules that close values by which rows of their stream are joined."""
    names = [o.table for o in query.occurrences if o.table in catalog.streams]
    several = [n for n in dict.fromkeys(names) if names.count(n) > 1 and catalog.streams[n].closing]
    classes = EqualityClasses(query.occurrences, query.conditions) if several else None
    for name in several:
        aliases = [o.alias for o in query.occurrences if o.table == name]
        for rule in catalog.streams[name].closing:
            assert classes is not None
            if any(
                all(classes.same(Attribute(a, c), Attribute(b, c)) for c in rule.columns)
                for a, b in combinations(aliases, 2)
            ):
                yield name, rule


def list_stream_keys(stream: Stream) -> tuple[tuple[str, ...], ...]:
    """The keys that hold over the whole stream: those without the timestamp."""
    return tuple(key for key in stream.keys if key and stream.timestamp not in key)


def key_declaration(stream: Stream, key: tuple[str, ...]) -> Declaration:
    """A key without the timestamp, as what a verdict may rest on: a run compares rows of one
    timestamp only."""
    text = f"{stream.name} has the key ({', '.join(key)})"
    return Declaration("key", stream.name, key, text, stream.source)


def reference_declaration(stream: Stream, reference: Reference) -> Declaration:
    """A reference of one column, as what a verdict may rest on."""
    text = f"{stream.name}.{reference.columns[0]} references {reference.relation}.{reference.to[0]}"
    return Declaration("reference", stream.name, reference.columns, text, stream.source)


def size_declaration(relation: Relation) -> Declaration:
    """The declared size of a static relation, as what a bound may rest on."""
    text = f"{relation.name} has at most {relation.max_rows} rows"
    return Declaration("max_rows", relation.name, (), text, relation.source)


def lag_declaration(stream: str, lag: Lag) -> Declaration:
    """A declared lag of a stream, as what a verdict may rest on ([B] k-constraints)."""
    if lag.behind == stream and lag.columns == lag.to:
        named, span = ", ".join(lag.columns), show_duration(lag.within_us)
        text = f"all rows of {stream} with one {named} lie within {span}"
        return Declaration("lag", stream, lag.columns, text + _spills(lag), lag.source)
    columns = ", ".join(f"{a} = {lag.behind}.{b}" for a, b in zip(lag.columns, lag.to, strict=True))
    text = f"{stream} follows {lag.behind} on {columns} within {show_length(stream, lag)}"
    if lag.one:
        text += f", and one row of {stream} has a value of {', '.join(lag.columns)}"
    return Declaration("lag", stream, lag.columns, text + _spills(lag), lag.source)


def show_length(stream: str, lag: Lag) -> str:
    """How long after a row those that join it come, as it is declared."""
    if lag.rows is None or lag.every_us is None:
        return show_duration(lag.within_us)
    often = show_duration(lag.every_us)
    return f"{lag.rows} rows of {stream}, of which one comes every {often} at least"


def _spills(lag: Lag) -> str:
    """What becomes of what a lag does not say."""
    on_disk = lag.breach is not None and lag.breach.spill
    return "; what comes later is found on disk" if on_disk else ""


def closing_declaration(stream: str, rule: ClosingRule) -> Declaration:
    """When a stream's values are closed, as what a verdict may rest on ([B] CA; punctuations)."""
    if rule.of_key:
        text = f"{stream} has the key ({', '.join(rule.columns)})"
        return Declaration("key", stream, rule.columns, text, rule.source)
    if rule.span_us is not None:
        lag = Lag(stream, rule.columns, rule.columns, rule.span_us, rule.source)
        return lag_declaration(stream, lag)
    named = ", ".join(rule.columns)
    if rule.gap_us is not None:
        gap = show_duration(rule.gap_us)
        text = f"consecutive rows of {stream} with one {named} lie within {gap}"
    elif rule.rows is not None:
        text = (
            f"at most {rule.rows} rows of {stream} come between two consecutive ones with one "
            f"{named}"
        )
    elif rule.slack is not None:
        less = f"at most {rule.slack} less than the greatest before" if rule.slack else "never less"
        text = f"{stream} comes in the order of {named}, {less}"
    elif rule.late_rows is not None:
        text = f"{stream} comes in the order of {named}, at most {rule.late_rows} rows late"
    else:
        text = (
            f"the row of {stream} in which {rule.ends} is true is the last with its {named}, and "
            f"at most {rule.most_open} are open"
        )
    if rule.most_rows is not None:
        text += f"; at most {rule.most_rows} rows of {stream} have one {named}"
    return Declaration("closing", stream, rule.columns, text, rule.source)


def domain_declaration(stream: Stream, column: Column) -> Declaration:
    """A column's declared range or enumeration, as what a verdict may rest on."""
    if column.enum is not None:
        text = f"{stream.name}.{column.name} in {show_values(column.enum)}"
    else:
        low = "-∞" if column.minimum is None else column.minimum
        high = "∞" if column.maximum is None else column.maximum
        text = f"{stream.name}.{column.name} in {low}..{high}"
    return Declaration("domain", stream.name, (column.name,), text, column.source)


def mentioned_attributes(query: SpjQuery) -> list[Attribute]:
    """Every attribute whose value a disjunct mentions, once, in order."""
    attributes: dict[Attribute, None] = {}
    for condition in query.conditions:
        match condition:
            case Compare(left=left, right=right):
                attributes[left] = None
                if isinstance(right, Attribute):
                    attributes[right] = None
            case NotNull(attribute=attribute) | OneOf(attribute=attribute):
                attributes[attribute] = None
            case IsNull():
                pass
            case _:
                assert_never(condition)
    for _, output in query.outputs:
        for attribute in output_attributes(output):
            attributes[attribute] = None
    return list(attributes)
