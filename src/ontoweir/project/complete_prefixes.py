"""Declare the prefixes that a typed query uses and does not declare."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

WELL_KNOWN = {
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "geo": "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "ow": "urn:ontoweir:",
}
"""What prefixes mean where no file of the project says it."""
_HEAD = 1 << 16
"""The prefixes of a document are among so many bytes of its beginning."""
_DECLARED = re.compile(r"(?:@prefix|\bPREFIX)\s+([\w.-]*):\s*<([^<>\s]*)>", re.IGNORECASE)
_XMLNS = re.compile(r"\bxmlns(?::([\w.-]+))?\s*=\s*[\"']([^\"']*)[\"']")
_APART = re.compile(
    r"<[^<>\"{}|^`\\\s]*>|\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*",
    re.DOTALL,
)
"""IRIs, texts and comments."""
_USED = re.compile(r"(?<![\w.:?$-])((?:[^\W\d_][\w.-]*)?):(?=[\w%\\]|[\s;,.)\]}|/^*+?]|$)")


def complete_prefixes(text: str, documents: Iterable[Path]) -> str:
    """The query with the prefixes that it lacks, in its first line: as the documents have them, if
    all of them mean one thing by it, or as everybody knows them. Others stay undeclared.

    Args:
        text: SPARQL.
        documents: of the project: ontologies, mappings and queries.

    >>> complete_prefixes("SELECT ?x { ?x a ex:Y, owl:Thing }", [])
    'PREFIX owl: <http://www.w3.org/2002/07/owl#> SELECT ?x { ?x a ex:Y, owl:Thing }'
    """
    declared = {match[1] for match in _DECLARED.finditer(text)}
    used = dict.fromkeys(match[1] for match in _USED.finditer(_APART.sub(" ", text)))
    missing = [name for name in used if name not in declared]
    if not missing:
        return text
    meant: dict[str, set[str]] = {}
    for name, iri in (found for file in documents for found in _read(file)):
        meant.setdefault(name, set()).add(iri)
    known = {name: iris.pop() for name, iris in meant.items() if len(iris) == 1}
    known |= {name: iri for name, iri in WELL_KNOWN.items() if name not in meant}
    lines = (f"PREFIX {name}: <{known[name]}> " for name in missing if name in known)
    return "".join(lines) + text


def _read(file: Path) -> Iterator[tuple[str, str]]:
    """The prefixes that a document declares, with their IRIs."""
    try:
        with file.open("rb") as opened:
            head = opened.read(_HEAD).decode("utf-8", "replace")
    except OSError:  # whoever reads all of it says so
        return
    for match in _DECLARED.finditer(head):
        yield match[1], match[2]
    for match in _XMLNS.finditer(head):
        yield match[1] or "", match[2]
