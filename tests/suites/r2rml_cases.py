"""The R2RML cases of ../shared/suites, and why some are not met."""

import re
import sqlite3
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rdflib import Graph, Namespace

from tests.paths import SHARED

SUITES = SHARED / "suites"
_TEST = Namespace("http://purl.org/NET/rdb2rdf-test#")
_DC = Namespace("http://purl.org/dc/elements/1.1/")

UNTYPED = (
    "expects numbers without the datatype that R2RML section 10.2 gives them and that 0007e, "
    "0008a and 0012e of this suite expect; W3C's own output of the case is made"
)
LEFT_OUT = (
    "expects the triples of the other rows; R2RML section 4.2 demands an error, and so does W3C's "
    "case. --skip-data-errors makes exactly these triples"
)
NOT_MET = {
    **dict.fromkeys(
        [
            *["r2rml-sqlite 0002a", "r2rml-sqlite 0005a", "r2rml-sqlite 0005b"],
            *["r2rml-sqlite 0007c", "r2rml-sqlite 0007d", "r2rml-sqlite 0008b"],
            *["r2rml-sqlite 0009d", "r2rml-sqlite 0011a", "r2rml-sqlite 0011b"],
            *["r2rml-sqlite 0016a", "r2rml-sqlite 0016b"],
        ],
        UNTYPED,
    ),
    "r2rml-sqlite 0002f": 'demands that {Name} is refused for the column "Name", which all other '
    "mappings of this suite write in just this way; SQLite's names have no case. W3C's case, which "
    'also writes \\"Name\\", is refused',
    "r2rml-sqlite 0004b": "expects a triple though rr:termType rr:Literal is not a subject (R2RML "
    "section 7.4); refused, as W3C's case demands",
    "r2rml-sqlite 0012a": "expects xsd:integer for a FLOAT, which 0012e expects as xsd:double; "
    "W3C's own output of the case is made",
    "r2rml-sqlite 0018a": "expects numbers without datatype, and CHAR(15) not filled with blanks; "
    "W3C's own output of the case is made",
    "r2rml-sqlite 0019b": LEFT_OUT,
    "r2rml-sqlite 0020a": "the database says http://company.com/Alice, the expected output "
    "http://example.com/company/Alice; all other triples are the same",
    "r2rml-sqlite 0020b": "no such row in the database (see 0020a), and: " + LEFT_OUT,
}
"""Cases that are not met, with their reasons; test_r2rml checks each reason."""

_HEAD = """\
# R2RML conformance of `ontoweir materialize`

```sh
./ontoweir test tests/suites/test_r2rml.py
```

This page lists every case of two independent suites: W3C's rdb2rdf cases (their SQL loaded
into SQLite), and their variant with SQLite databases of kg-construct / morph-kgc. The test runs
all of them, checks each reason below, and compares this page with the results
(`python -m tests.suites.test_r2rml` rewrites it).

RDF terms are compared: datatypes, language tags and graphs must agree, blank nodes up to
isomorphism, numbers of one datatype by value (W3C gives both "30.0" and "3.0E1").

| suite | cases | met | not met |
| --- | --- | --- | --- |
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One case. `expected` is None where an error is demanded."""

    suite: str
    name: str
    mapping: Path
    database: Path
    expected: Path | None

    @property
    def key(self) -> str:
        return f"{self.suite} {self.name}"


@cache
def list_cases() -> tuple[Case, ...]:
    """All cases, none without ../shared."""
    if not SUITES.is_dir():
        return ()
    found = []
    for folder in sorted((SUITES / "r2rml-sqlite").iterdir()):
        output = folder / "output.nq"
        has_output = output.exists() and (output.stat().st_size > 0 or folder.name == "R2RMLTC0000")
        found.append(
            Case(
                "r2rml-sqlite",
                folder.name.removeprefix("R2RMLTC"),
                folder / "mapping.ttl",
                folder / "resource.db",
                output if has_output else None,
            )
        )
    for folder in sorted((SUITES / "w3c-r2rml").iterdir()):
        manifest = Graph().parse(folder / "manifest.ttl")
        for node in sorted(manifest.subjects(None, _TEST.R2RML), key=str):
            name = str(manifest.value(node, _DC.identifier)).removeprefix("R2RMLTC")
            if folder.name == "D026":
                name = f"{name} of D026"  # the manifest repeats the identifier of D009
            expected = str(manifest.value(node, _TEST.hasExpectedOutput)).lower() == "true"
            found.append(
                Case(
                    "w3c-r2rml",
                    name,
                    folder / str(manifest.value(node, _TEST.mappingDocument)),
                    folder / "create.sql",
                    folder / str(manifest.value(node, _TEST.output)) if expected else None,
                )
            )
    return tuple(found)


def open_database(case: Case, folder: Path) -> Path:
    """The case's SQLite file; W3C's are made of create.sql.

    Adapted for SQLite: ALTER TABLE … ADD FOREIGN KEY is left out, which SQLite does not have and
    no mapping needs.
    """
    if case.database.suffix == ".db":
        return case.database
    text = case.database.read_text(encoding="utf-8")
    text = re.sub(r"ALTER TABLE[^;]*ADD FOREIGN KEY[^;]*;", "", text)
    path = folder / "case.db"
    connection = sqlite3.connect(path)
    connection.executescript(text)
    connection.close()
    return path


def write_table(cases: tuple[Case, ...]) -> str:
    """The Markdown of docs/r2rml-conformance.md."""
    lines = _HEAD.splitlines()
    for suite in ("w3c-r2rml", "r2rml-sqlite"):
        own = [c for c in cases if c.suite == suite]
        missed = sum(c.key in NOT_MET for c in own)
        lines.append(f"| {suite} | {len(own)} | {len(own) - missed} | {missed} |")
    lines += ["", "| case | demands | result |", "| --- | --- | --- |"]
    for case in sorted(cases, key=lambda c: (c.suite != "w3c-r2rml", c.name)):
        demands = "an error" if case.expected is None else "triples"
        result = f"not met: {NOT_MET[case.key]}" if case.key in NOT_MET else "met"
        lines.append(f"| {case.key} | {demands} | {result} |")
    return "\n".join(lines) + "\n"
