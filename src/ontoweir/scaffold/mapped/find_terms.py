"""Find the words that mappings have for a stream's rows and columns."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ontoweir.mappings.compile.rename_aliases import rename_term
from ontoweir.mappings.model.assertion import (
    ColumnMap,
    MappingAssertion,
    SourceColumn,
    SourceCompare,
    SourceNotNull,
    TemplateMap,
    TermMap,
    term_columns,
)
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.scaffold.terms.describe_stream import describe_stream
from ontoweir.scaffold.terms.name_terms import namespace_of
from ontoweir.scaffold.terms.terms import Term, Terms

NONE = "urn:ontoweir:none#row"
"""Stands for a word that a mapping does not have: no query with it is written."""
_MAPPED = "the mapping has it"
_PREFIX = re.compile(r"^\s*@?prefix\s+([\w-]*):\s*<([^>]+)>|^([\w-]*):\s+(\S+)\s*$", re.I | re.M)
_TAKEN = {"ow": "urn:ontoweir:", "xsd": "http://www.w3.org/2001/XMLSchema#"}


@dataclass(frozen=True, slots=True)
class _Rows:
    """What one subject is, in all triples maps that have it: its class (None: none), by column the
    property of its value, and by column the property that leads to what the column names; and the
    columns that it is `called` by."""

    kind: str | None
    values: Mapping[str, str]
    links: Mapping[str, str]
    called: frozenset[str]


def find_terms(
    stream: Stream,
    catalog: Catalog,
    assertions: Iterable[MappingAssertion],
    prefixes: Mapping[str, str],
) -> tuple[Stream, Terms]:
    """The terms of a stream's rows, and the stream with those columns alone that have one: what
    its rows are about, that to which a property leads. `NONE` is in the place of a term that there
    is not.

    Args:
        stream: of the catalog.
        catalog: all tables.
        assertions: of the mappings.
        prefixes: by namespace.
    """
    rows = _choose_rows(stream.name, assertions)
    kept = {*rows.values, *rows.links}
    called = rows.called | {stream.timestamp}  # rows with equal ones would be one
    stream = replace(stream, keys=tuple(key for key in stream.keys if {*key} <= called))
    shown = _keep(stream, kept)
    while True:  # what rows seem to be about is left out where no property leads there
        subject = describe_stream(shown, catalog)
        wrong = {subject.entity} - {None, *rows.links}
        wrong |= {subject.value} - {None, *rows.values}
        if not wrong:
            break
        kept -= wrong
        shown = _keep(stream, kept)
    columns = {(stream.name, c): Term(iri, _MAPPED) for c, iri in rows.values.items()}
    everything = {(stream.name, c.name): Term(NONE) for c in stream.columns}
    kind = Term(NONE) if rows.kind is None else Term(rows.kind, _MAPPED)
    leads = None if subject.entity is None else rows.links[subject.entity]
    about = {} if leads is None else {stream.name: Term(leads, _MAPPED)}
    terms = Terms("", {stream.name: kind}, {}, about, everything | columns, prefixes=prefixes)
    return shown, terms


def _choose_rows(table: str, assertions: Iterable[MappingAssertion]) -> _Rows:
    """The subject that most columns are told of, among those that all rows of a table have; one
    with a class before one without."""
    found: dict[TermMap, tuple[list[str], dict[str, str], dict[str, str]]] = {}
    columns: dict[TermMap, frozenset[str]] = {}
    for one in assertions:
        alias = one.stream_alias
        tables = {t.alias: t.table for t in one.source.tables}
        conditions = [c for c in one.source.conditions if not isinstance(c, SourceNotNull)]
        if alias is None or tables.get(alias) != table or one.graphs:
            continue
        used = term_columns(one.subject)
        if any(column.alias != alias for column in used):
            continue
        subject = rename_term(one.subject, {alias: table})
        columns[subject] = frozenset(column.column for column in used)
        kinds, values, links = found.setdefault(subject, ([], {}, {}))
        alone = len(tables) == 1 and not conditions
        match one.object:
            case None if alone:
                kinds.append(one.predicate)
            case ColumnMap(column=column, language=None) if alone:
                values.setdefault(column.column, one.predicate)
            case TemplateMap(kind="iri", parts=parts):
                named = [p for p in parts if isinstance(p, SourceColumn)]
                mine = _own(named[0], alias, conditions) if len(named) == 1 else None
                if mine is not None:
                    links.setdefault(mine, one.predicate)
            case _:
                pass
    if not found:
        return _Rows(None, {}, {}, frozenset())
    chosen = min(found, key=lambda s: (not found[s][0], -len(found[s][1]) - len(found[s][2])))
    kinds, values, links = found[chosen]
    return _Rows(next(iter(kinds), None), values, links, columns[chosen])


def _own(named: SourceColumn, alias: str, conditions: Sequence[object]) -> str | None:
    """The stream's own column that has the value that a term is made from: the term's, or the one
    that a join equates with it (None: there is none)."""
    if named.alias == alias:
        return None if conditions else named.column
    match conditions:
        case [SourceCompare(left=left, op="=", right=right, offset=0)] if right == named:
            return left.column if left.alias == alias else None
        case _:
            return None


def _keep(stream: Stream, kept: set[str]) -> Stream:
    """The stream with some of its columns, and references of these alone."""
    return replace(
        stream,
        columns=tuple(c for c in stream.columns if c.name in kept),
        references=tuple(r for r in stream.references if {*r.columns} <= kept),
    )


def find_things(assertions: Iterable[MappingAssertion]) -> frozenset[tuple[str, str]]:
    """By table and column, what objects are called by that are no rows: an IRI that is made from
    this column alone, which names a thing.

    Args:
        assertions: of mappings.
    """
    found = set()
    for one in assertions:
        tables = {t.alias: t.table for t in one.source.tables}
        match one.object:
            case TemplateMap(kind="iri", parts=parts):
                named = [p for p in parts if isinstance(p, SourceColumn)]
                if len(named) == 1 and len(parts) > 1:
                    found.add((tables[named[0].alias], named[0].column))
            case _:
                pass
    return frozenset(found)


def read_prefixes(files: Sequence[Path], terms: Iterable[str]) -> dict[str, str]:
    """By namespace of terms, the prefix that files have for it, or none.

    Args:
        files: of mappings and ontologies, as texts.
        terms: IRIs.
    """
    told: dict[str, str] = {}
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        for match in _PREFIX.finditer(text):
            name, space = (match[1], match[2]) if match[2] else (match[3], match[4])
            told.setdefault(space, name)
    found: dict[str, str] = {}
    for space in sorted({namespace_of(iri) for iri in terms}):
        name = told.get(space)
        if name is None or name in found.values() or _TAKEN.get(name, space) != space:
            continue
        found[space] = name
    return found
