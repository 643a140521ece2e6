"""Write the README of a project that is made of data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ontoweir.scaffold.measure_guessed import Evidence
from ontoweir.scaffold.queries.choose_queries import file_of_query
from ontoweir.scaffold.remote.hear_topic import PASSWORD
from ontoweir.scaffold.terms.vocabulary import Vocabulary

MAPPING = "mapping.r2rml.ttl"
"""The file of a project's own mapping."""
_GUESSED = " # guessed: "


@dataclass(frozen=True, slots=True)
class Readme:
    """What a project is made of, beside data: its `name`, an ontology (None: none), and mappings
    (none: it has its own)."""

    name: str
    vocabulary: Vocabulary | None
    mappings: Sequence[Path]


def write_readme(
    given: Readme, evidence: Evidence, queries: Mapping[str, str], made: Mapping[str, str]
) -> str:
    """The text that says what to try, and what the files are.

    Args:
        given: what the project is made of.
        evidence: its tables, and what was seen.
        queries: by name.
        made: the files of classes, properties and mappings that are its own.
    """
    first = next(iter(queries), None)
    lines = [f"# {given.name}", "", "Made by `ontoweir init --from`. The next commands:", ""]
    lines.append("    ontoweir check      # verdicts, bounds, reasons")
    if first is not None:
        lines.append(f"    ontoweir show {first}   # its answers over the data")
    lines.append("    ontoweir measure    # what else the data keeps")
    mqtt = [s.data.mqtt for s in evidence.catalog.streams.values() if s.data.mqtt]
    if mqtt:
        lines.append("    ontoweir receive    # go on receiving, until stopped; then, beside it:")
        lines.append("    ontoweir run        # answers as messages come")
    if any("password" in dict(one) for one in mqtt):
        lines += ["", f"The broker's password is what the variable `{PASSWORD}` has."]
    lines += ["", "| file | |", "| --- | --- |"]
    lines.append("| `ontoweir.toml` | the tables; what is marked `seen` was measured: correct it |")
    if given.vocabulary is not None:
        lines.append(f"| `{given.vocabulary.file}` | the ontology; it is read where it is |")
    if "ontology.ttl" in made:
        most = "a class for each table, a property for each column"
        rest = "classes and properties for what that ontology has none for"
        lines.append(f"| `ontology.ttl` | {most if given.vocabulary is None else rest} |")
    by = "values and names" if given.vocabulary is None else "names"
    marked = f"; what is marked `guessed` goes by {by}" if _GUESSED in made.get(MAPPING, "") else ""
    if MAPPING in made:
        lines.append(f"| `{MAPPING}` | which rows and columns these are{marked} |")
    lines += [f"| `{f.absolute()}` | the mapping; it is read where it is |" for f in given.mappings]
    lines += [
        f"| `{file_of_query(n, t)}` | {t.splitlines()[0][2:].strip()} |" for n, t in queries.items()
    ]
    for stream, measured in evidence.measured:
        if not measured.rows:
            lines += ["", f"Put the data of `{stream}` into `data/{stream}.parquet`."]
            continue
        lines += ["", f"`{stream}` has {measured.rows:,} rows."]
    return "\n".join(lines) + "\n"
