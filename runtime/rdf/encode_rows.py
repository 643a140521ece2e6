"""Rows of answers as the text of SPARQL's JSON, or of N-Quads.

N-Quads: where answers have the columns s, p and o (or subject, predicate, object) alone, each is
that triple, in the graph of its time. Other answers are blank nodes with a property for each
column, in that graph.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from urllib.parse import quote

import pyarrow as pa

from ontoweir.runtime.rdf.find_terms import XSD, AnswerTerms, RdfFormat, TermKind, name_triple

ANSWER, AT_GRAPH = "urn:ontoweir:answer#", "urn:ontoweir:at:"
"""Properties of answers, by the names of columns; graphs, by their time."""
_AT, _MULTIPLICITY = "at", "multiplicity"
_ROWS, _PORTION = 65_536, 4_096
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass
class RowEncoder:
    """Writes the text of answers, in portions.

    `scope`: what the blank nodes of rows are called after, so that files can be put together.
    """

    form: RdfFormat
    schema: pa.Schema
    terms: AnswerTerms
    scope: str

    def __post_init__(self) -> None:
        self.names = [name for name in self.schema.names if name != _MULTIPLICITY]
        self.kinds = {name: self._kind(name) for name in self.names}
        self.written = 0

    def _kind(self, name: str) -> TermKind:
        """The kind of a column's terms: that of the query, or else of its type."""
        kinds = self.terms.columns.get(name)
        if kinds:
            (kind,) = kinds
            return kind
        return TermKind("literal", _datatype(self.schema.field(name).type))

    def whole(self, table: pa.Table) -> bytes:
        """The text of a file with these rows."""
        return b"".join([self.begin().encode(), *self.portions(table), self.end().encode()])

    def begin(self) -> str:
        """What is before all rows."""
        if self.form == "nq":
            return ""
        head = json.dumps({"vars": self.names}, ensure_ascii=False)
        return f'{{"head": {head}, "results": {{"bindings": ['

    def end(self) -> str:
        """What is after them."""
        return "" if self.form == "nq" else f"{chr(10) if self.written else ''}]}}}}\n"

    def portions(self, table: pa.Table) -> Iterator[bytes]:
        """The text of rows, some at a time."""
        rows = self._rows(table)
        while portion := list(islice(rows, _PORTION)):
            yield "".join(portion).encode()

    def _rows(self, table: pa.Table) -> Iterator[str]:
        """Rows, each as often as it counts."""
        nquads = self.form == "nq"
        triple = name_triple(self.names) if nquads else None
        shown = self._show_triple if triple else self._show_quads if nquads else self._show_binding
        for batch in table.to_batches(max_chunksize=_ROWS):
            columns = [self._terms(batch.column(n), n) for n in triple or self.names]
            graphs = _spread(batch.column(_AT), lambda at: f"<{AT_GRAPH}{at}>") if nquads else None
            times = [1] * batch.num_rows
            if _MULTIPLICITY in batch.schema.names:
                times = batch.column(_MULTIPLICITY).to_pylist()
            for number, (count, terms) in enumerate(
                zip(times, zip(*columns, strict=True), strict=True)
            ):
                for _ in range(count):
                    yield shown(terms, graphs[number] if graphs else None)
                    self.written += 1

    def _terms(self, column: pa.Array, name: str) -> list[str | None]:
        """The text of each cell (None: it has no value)."""
        kind = self.kinds[name]
        if self.form == "srj":
            return _spread(column, lambda text: f"{_quote(name)}: {_json_term(text, kind)}")
        if name_triple(self.names) is not None:
            return _spread(column, lambda text: _nquads_term(text, kind))
        predicate = f"<{ANSWER}{quote(name, safe='')}>"
        return _spread(column, lambda text: f"{predicate} {_nquads_term(text, kind)}")

    def _show_binding(self, terms: Sequence[str | None], graph: str | None) -> str:
        bound = ", ".join(term for term in terms if term is not None)
        return f"{',' if self.written else ''}\n{{{bound}}}"

    def _show_triple(self, terms: Sequence[str | None], graph: str | None) -> str:
        if None in terms:
            return ""  # as CONSTRUCT has it
        return f"{' '.join(map(str, terms))} {graph} .\n"

    def _show_quads(self, terms: Sequence[str | None], graph: str | None) -> str:
        node = f"_:{self.scope}r{self.written}"
        return "".join(f"{node} {term} {graph} .\n" for term in terms if term is not None)


def _spread(column: pa.Array, show: Callable[[str], str]) -> list[str | None]:
    """What is shown of each value, of equal ones once (None: NULL)."""
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    made = [None if v is None else show(lexical_form(v)) for v in coded.dictionary.to_pylist()]
    return [None if place is None else made[place] for place in coded.indices.to_pylist()]


def name_scope(*parts: str) -> str:
    """What blank nodes of a query's answers are called after: no other query's are."""
    return f"q{hashlib.sha256('/'.join(parts).encode()).hexdigest()[:16]}"


def _datatype(kind: pa.DataType) -> str | None:
    tests: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
        (pa.types.is_integer, "integer"),
        (pa.types.is_decimal, "decimal"),
        (pa.types.is_floating, "double"),
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_date, "date"),
        (pa.types.is_timestamp, "dateTime"),
    )
    name = next((name for is_such, name in tests if is_such(kind)), None)
    return None if name is None else f"{XSD}{name}"


def _json_term(text: str, kind: TermKind) -> str:
    if kind.kind == "iri":
        return f'{{"type": "uri", "value": {_quote(text)}}}'
    if kind.kind == "blank":
        return f'{{"type": "bnode", "value": {_quote(text.removeprefix("_:"))}}}'
    more = "" if kind.datatype is None else f', "datatype": {_quote(kind.datatype)}'
    more += "" if kind.language is None else f', "xml:lang": {_quote(kind.language)}'
    return f'{{"type": "literal", "value": {_quote(text)}{more}}}'


_quote = json.JSONEncoder(ensure_ascii=False).encode


def _nquads_term(text: str, kind: TermKind) -> str:
    if kind.kind == "iri":
        return f"<{re.sub(_NOT_IN_IRI, _number, text)}>"
    if kind.kind == "blank":
        return f"_:b{text.removeprefix('_:').encode().hex()}"
    escaped = re.sub(_NOT_IN_TEXT, lambda m: _ESCAPES.get(m[0]) or _number(m), text)
    shown = f'"{escaped}"'
    if kind.language is not None:
        return f"{shown}@{kind.language}"
    return shown if kind.datatype is None else f"{shown}^^<{kind.datatype}>"


_NOT_IN_IRI = r'[\x00-\x20<>"{}|^`\\]'
_NOT_IN_TEXT = r'[\x00-\x1f\x7f"\\]'


def _number(match: "re.Match[str]") -> str:
    return f"\\u{ord(match[0]):04X}"


def lexical_form(value: object) -> str:
    """A value as XML Schema writes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            if math.isfinite(value):
                return repr(value)
            return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
        case Decimal():
            return format(value, "f")
        case datetime():  # all times are UTC
            return f"{value.replace(tzinfo=None).isoformat()}Z"
        case date():
            return value.isoformat()
        case _:
            return str(value)
