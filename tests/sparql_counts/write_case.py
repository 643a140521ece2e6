"""Write a case as a project, and print it."""

import csv
import json
from pathlib import Path

from tests.sparql_counts.case import Atom, Branch, Case, Map, Query, Row, Table

BASE = "http://e/"
PREFIXES = (
    f"@prefix : <{BASE}> .\n@prefix rr: <http://www.w3.org/ns/r2rml#> .\n"
    "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
)
ONTOLOGY = (
    f"@prefix : <{BASE}> .\n@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
)
CLASSES, OBJECT_PROPERTIES, DATA_PROPERTIES = "ABCD", "PQR", "vwzdt"


def write_case(case: Case, folder: Path) -> None:
    """Write all files of a case into a folder."""
    for name, text in describe_files(case).items():
        (folder / name).write_text(text, encoding="utf-8")
    for table in case.tables:
        write_rows(table, case.rows[table.name], folder)


def write_rows(table: Table, rows: tuple[Row, ...], folder: Path) -> None:
    """Write the data of one table."""
    times = ["ts"] if table.stream else []
    with (folder / f"{table.name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(times + [name for name, _ in table.columns])
        for row in sorted(rows, key=lambda r: r[0]) if table.stream else rows:  # type: ignore[arg-type,return-value]
            moment = [f"2020-01-01 00:{5 * int(row[0] or 0):02}:00"] if table.stream else []
            cells = row[1:] if table.stream else row
            writer.writerow(moment + ["" if c is None else c for c in cells])


def show_case(case: Case) -> str:
    """All of a case as text, for whoever looks at why it failed."""
    parts = [f"# {case.note}"] if case.note else []
    parts += [f"## {name}\n{text}" for name, text in describe_files(case).items()]
    for table in case.tables:
        columns = ", ".join([*(["step"] if table.stream else []), *(n for n, _ in table.columns)])
        rows = "\n".join(str(row) for row in case.rows[table.name])
        parts.append(f"## {table.name} ({columns})\n{rows}")
    return "\n".join(parts)


def describe_files(case: Case) -> dict[str, str]:
    """The files of a case but its data, by name."""
    return {
        "ontoweir.toml": _write_catalog(case),
        "o.ttl": _write_ontology(case),
        "m.ttl": PREFIXES + "".join(_write_map(i, m) for i, m in enumerate(case.maps)),
        "q.rq": write_query(case.query),
    }


def _write_catalog(case: Case) -> str:
    parts = ['[project]\nontology = ["o.ttl"]\nmappings = ["m.ttl"]\nqueries = ["q.rq"]\n']
    for table in case.tables:
        parts.append(f"[{'streams' if table.stream else 'relations'}.{table.name}]\n")
        parts.append(
            f'source = {{ format = "csv", path = "{table.name}.csv", '
            'options = { header = "true" } }\n'
        )
        if table.stream:
            parts.append(f'timestamp = {{ column = "ts", unit = "{table.unit}" }}\n')
        if table.most is not None:
            name = "max_per_timestamp" if table.stream else "max_rows"
            parts.append(f"{name} = {table.most}\n")
        also = ["ts"] if table.stream and not table.lasting else []
        if table.keys:
            keys = ", ".join(_write_names([*key, *also]) for key in table.keys)
            parts.append(f"keys = [{keys}]\n")
        if table.references:
            parts.append(f"references = [{', '.join(map(_write_reference, table.references))}]\n")
        if table.lags:
            parts.append(f"lags = [{', '.join(map(_write_lag, table.lags))}]\n")
        ranges = {name: (least, most) for name, least, most in table.ranges}
        columns = (
            f'{name} = {{ type = "{kind}", min = {ranges[name][0]}, max = {ranges[name][1]} }}'
            if name in ranges
            else f'{name} = "{kind}"'
            for name, kind in table.columns
        )
        parts.append(f"columns = {{ {', '.join(columns)} }}\n")
    return "".join(parts)


def _write_names(names: list[str]) -> str:
    return json.dumps(names)


def _write_reference(reference: tuple[str, str, str]) -> str:
    column, relation, there = reference
    return f'{{ columns = ["{column}"], relation = "{relation}", to = ["{there}"] }}'


def _write_lag(lag: tuple[str, str, str, int]) -> str:
    column, behind, there, steps = lag
    return (
        f'{{ columns = ["{column}"], behind = "{behind}", to = ["{there}"], '
        f'within = "{5 * steps} minutes" }}'
    )


def _write_ontology(case: Case) -> str:
    named = (
        *(f":{c} a owl:Class ." for c in CLASSES),
        *(f":{p} a owl:ObjectProperty ." for p in OBJECT_PROPERTIES),
        *(f":{p} a owl:DatatypeProperty ." for p in DATA_PROPERTIES),
    )
    return ONTOLOGY + "\n".join((" ".join(named), *case.axioms, *case.facts)) + "\n"


def _write_map(number: int, made: Map) -> str:
    named = made.source.isidentifier()
    table = f'rr:tableName "{made.source}"' if named else f'rr:sqlQuery "{made.source}"'
    graph = f" ; rr:graph :{made.graph}" if made.graph else ""
    classes = "".join(f" ; rr:class :{c}" for c in made.classes)
    text = f"<#M{number}> rr:logicalTable [ {table} ] ;\n"
    text += f"  rr:subjectMap [ {made.subject}{classes}{graph} ]"
    for name, term in made.objects:
        text += f" ;\n  rr:predicateObjectMap [ rr:predicate :{name} ; rr:objectMap [ {term} ] ]"
    return text + " .\n"


def write_query(query: Query) -> str:
    """The text of a query."""
    branches = [_write_branch(branch) for branch in query.branches]
    pattern = (
        branches[0]
        if len(branches) == 1
        else "".join(f"  {'UNION ' if i else ''}{{\n{b}  }}\n" for i, b in enumerate(branches))
    )
    head = " ".join((*(["DISTINCT"] if query.distinct else []), *query.head))
    graphs = "".join(f"FROM :{g}\n" for g in query.graphs)
    group = f"GROUP BY {' '.join(query.group)}\n" if query.group else ""
    return (
        f"PREFIX : <{BASE}>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
        f"SELECT {head}\n{graphs}WHERE {{\n{pattern}}}\n{group}"
    )


def _write_branch(branch: Branch) -> str:
    lines = []
    for time in dict.fromkeys(atom.time for atom in branch.atoms):
        inside = " ".join(_write_atom(a) for a in branch.atoms if a.time == time)
        lines.append(f"GRAPH ?{time} {{ {inside} }}" if time else inside)
    return "".join(f"  {line}\n" for line in (*lines, *branch.lines))


def _write_atom(atom: Atom) -> str:
    triples = [
        f"{atom.subject} {p if p.startswith('a ') else ':' + p} {atom.object}".rstrip()
        for p in (p.replace("a ", "a :") for p in atom.predicates)
    ]
    if len(triples) == 1:
        return triples[0] + " ."
    return " UNION ".join(f"{{ {t} }}" for t in triples)
