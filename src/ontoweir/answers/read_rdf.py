"""Read answers that are written as RDF: SPARQL's JSON, and N-Quads as runs write them."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from ontoweir.errors import DataError, Source
from ontoweir.runtime.rdf.encode_rows import ANSWER, AT_GRAPH
from ontoweir.runtime.rdf.find_terms import XSD

if TYPE_CHECKING:
    import pyarrow as pa

Term: TypeAlias = tuple[str, str | None]
"""The text of a term, and its datatype (None: it is a plain text, an IRI or a blank node)."""
_TRIPLE = ("s", "p", "o")
_NAIVE = ("at", "until")
"""The columns of times that other formats have without a zone."""
_TERM = re.compile(
    r'\s*(?:<(?P<iri>[^<>"{}|^`\\\x00-\x20]*(?:\\u[0-9A-Fa-f]{4}[^<>"{}|^`\\\x00-\x20]*)*)>'
    r"|_:(?P<blank>[^\s<>\"]+)"
    r'|"(?P<text>(?:[^"\\]|\\.)*)"(?:@(?P<language>[A-Za-z0-9-]+)|\^\^<(?P<datatype>[^<>]*)>)?)'
)
_END = re.compile(r"\s*\.\s*(?:#.*)?$")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


def read_rdf(file: Path) -> "pa.Table":
    """The answers of a file, which is read whole: a column for each variable, of the type of its
    datatype where all of its terms have one, else of text.

    Args:
        file: ends in .srj (SPARQL 1.1 Query Results JSON) or .nq (N-Quads; those of other programs
            have the columns s, p, o and graph).

    Raises:
        DataError: it is not what its name says.
        OSError: it cannot be read.
    """
    import pyarrow as pa

    try:
        text = file.read_text(encoding="utf-8-sig")
        names, rows = _read_json(text) if file.suffix.lower() == ".srj" else _read_quads(text)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        told = " ".join(str(error).split())[:200]
        form = "SPARQL's JSON" if file.suffix.lower() == ".srj" else "N-Quads"
        raise DataError(
            f"{file.name} is not {form}: {told}",
            why="it is read as such, by its name",
            fix="name a file of answers, or rename it",
            source=Source(str(file)),
        ) from error
    return pa.table({name: _column(name, [row.get(name) for row in rows]) for name in names})


def _read_json(text: str) -> tuple[list[str], list[dict[str, Term]]]:
    held = json.loads(text)
    names = [str(name) for name in held["head"]["vars"]]
    return names, [{n: _of_json(t) for n, t in b.items()} for b in held["results"]["bindings"]]


def _of_json(term: Mapping[str, Any]) -> Term:
    value = str(term["value"])
    return (f"_:{value}" if term["type"] == "bnode" else value), term.get("datatype")


def _read_quads(text: str) -> tuple[list[str], list[dict[str, Term]]]:
    """Rows of nodes with properties for columns; or else a row for each quad."""
    quads = list(_parse(text.split("\n")))
    if not all(p[0].startswith(ANSWER) for _, p, _, _ in quads):
        rows = [dict(zip(_TRIPLE, (s, p, o), strict=True)) | _graph_cell(g) for s, p, o, g in quads]
    else:
        nodes: dict[str, dict[str, Term]] = {}
        for node, predicate, term, graph in quads:
            row = nodes.setdefault(node[0], {})
            row[unquote(predicate[0].removeprefix(ANSWER))] = term
            row.update({n: t for n, t in _graph_cell(graph).items() if n not in row})
        rows = list(nodes.values())
    names = list(dict.fromkeys(name for row in rows for name in row))
    last = [n for n in ("at", "graph") if n in names]
    return [*(n for n in names if n not in last), *last], rows


def _graph_cell(graph: Term | None) -> dict[str, Term]:
    if graph is None:
        return {}
    if graph[0].startswith(AT_GRAPH):
        return {"at": (graph[0].removeprefix(AT_GRAPH), f"{XSD}dateTime")}
    return {"graph": graph}


def _parse(lines: Iterable[str]) -> Iterator[tuple[Term, Term, Term, Term | None]]:
    """
    Raises:
        ValueError: a line is no quad.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        terms, place = [], 0
        while (found := _TERM.match(line, place)) is not None:
            terms.append(_of_match(found))
            place = found.end()
        if len(terms) not in (3, 4) or _END.match(line, place) is None:
            raise ValueError(f"line {number} is no quad")
        yield terms[0], terms[1], terms[2], terms[3] if len(terms) == 4 else None


def _of_match(found: "re.Match[str]") -> Term:
    if found["iri"] is not None:
        return _unescape(found["iri"]), None
    if found["blank"] is not None:
        label = found["blank"]
        with suppress(ValueError):  # as runs write labels that N-Quads does not have
            label = bytes.fromhex(label[1:]).decode() if label.startswith("b") else label
        return f"_:{label}", None
    return _unescape(found["text"]), found["datatype"]


def _unescape(text: str) -> str:
    def plain(match: "re.Match[str]") -> str:
        code = match[1] or match[2]
        return chr(int(code, 16)) if code else _PLAIN.get(match[3], match[3])

    return re.sub(_ESCAPE, plain, text)


def _column(name: str, cells: list[Term | None]) -> "pa.ChunkedArray":
    """Values of the datatype that all terms have; texts, where they have several, or one is not
    written as its datatype says."""
    import pyarrow as pa

    kinds = {cell[1] for cell in cells if cell is not None}
    texts = [None if cell is None else cell[0] for cell in cells]
    known = _types(name).get(next(iter(kinds)) or "") if len(kinds) == 1 else None
    if known is not None:
        read, kind = known
        with suppress(ValueError, InvalidOperation, KeyError, OverflowError, pa.ArrowException):
            values = [None if text is None else read(text) for text in texts]
            return pa.chunked_array([pa.array(values, kind)])
    return pa.chunked_array([pa.array(texts, pa.string())])


def _types(name: str) -> "dict[str, tuple[Callable[[str], Any], pa.DataType | None]]":
    import pyarrow as pa

    time = pa.timestamp("us") if name in _NAIVE else pa.timestamp("us", "UTC")
    return {
        f"{XSD}integer": (int, pa.int64()),
        f"{XSD}decimal": (Decimal, None),
        f"{XSD}double": (_read_double, pa.float64()),
        f"{XSD}boolean": ({"true": True, "1": True, "false": False, "0": False}.__getitem__, None),
        f"{XSD}date": (date.fromisoformat, pa.date32()),
        f"{XSD}dateTime": (_read_time, time),
    }


def _read_double(text: str) -> float:
    return float(text.replace("INF", "inf"))


def _read_time(text: str) -> datetime:
    """In UTC, without a zone of its own."""
    read = datetime.fromisoformat(text)
    return read.astimezone(UTC).replace(tzinfo=None) if read.tzinfo else read
