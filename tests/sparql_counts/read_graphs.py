"""The RDF graph of every timestamp of a project: R2RML section 11, of the rows that hold then.

It reads the files itself: ontoweir.toml, CSV, R2RML in Turtle. SQLite runs the SQL, or DuckDB,
which has the types that expressions compute with, and takes longer. What `ontoweir
materialize` has for this is not used, because `check` reads mappings by the same reader: a mistake
there would be on both sides.
"""

import csv
import hashlib
import sqlite3
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
from rdflib import OWL, RDF, Graph, URIRef

from tests.oracle.database import open_database
from tests.sparql_counts.close_graph import Triple, close_graph
from tests.sparql_counts.read_maps import DEFAULT, TriplesMap, read_maps, write_typed

Base: TypeAlias = sqlite3.Connection | duckdb.DuckDBPyConnection


@dataclass(frozen=True, slots=True)
class Graphs:
    """Closed graphs: what always holds, and what holds at each timestamp, in order of time."""

    static: frozenset[Triple]
    at: Mapping[datetime, frozenset[Triple]]


class Project:
    """The mappings and the ontology of a project; its data is read whenever it is asked for.
    `computed`: the mappings' SQL computes, and DuckDB runs it."""

    def __init__(self, folder: Path, *, computed: bool = False) -> None:
        self.folder, self.computed = folder, computed
        self.catalog = tomllib.loads((folder / "ontoweir.toml").read_text(encoding="utf-8"))
        mapping, self.ontology = Graph(), Graph()
        for name in self.catalog["project"]["mappings"]:
            mapping.parse(folder / name, format="turtle")
        for name in self.catalog["project"]["ontology"]:
            self.ontology.parse(folder / name, format="turtle")
        self.maps = read_maps(mapping)
        kinds = (OWL.Class, OWL.ObjectProperty, OWL.DatatypeProperty)
        named = {name for kind in kinds for name in self.ontology.subjects(RDF.type, kind)}
        self.facts = {
            (s, p, o) for s, p, o in self.ontology if p in named or (p == RDF.type and o in named)
        }

    def read_graphs(self, chosen: tuple[str, ...] = ()) -> Graphs:
        """The graphs that the data makes; the ontology's facts are in all of them.

        Args:
            chosen: the IRIs after FROM; none: the default graph.
        """
        wanted = {URIRef(g) for g in chosen} or {DEFAULT}
        streams, relations = self.catalog.get("streams", {}), self.catalog.get("relations", {})
        versions = {name: table for name, table in relations.items() if "versions" in table}
        relations = {name: table for name, table in relations.items() if name not in versions}
        base = open_database() if self.computed else sqlite3.connect(":memory:")
        for name, table in (*relations.items(), *streams.items()):
            kinds = _kinds(table).items()
            columns = [f'"{c}" {_name_type(kind, self.computed)}' for c, kind in kinds]
            base.execute(f'DROP TABLE IF EXISTS "{name}"')
            base.execute(f'CREATE TEMP TABLE "{name}" ({", ".join(columns)})')
        for name, table in versions.items():
            followed = streams[table["versions"]["stream"]]
            columns = [f'"{c}" {_name_type(k, self.computed)}' for c, k in _kinds(followed).items()]
            base.execute(f'CREATE TEMP TABLE "{name}" ({", ".join(columns)})')
        for name, table in relations.items():
            _insert(base, name, table, [row for _, row in self._rows(table)])
        for name, view in self.catalog.get("views", {}).items():  # each after those that it reads
            base.execute(f'CREATE TEMP VIEW "{name}" AS {view["query"]}')

        def close() -> frozenset[Triple]:
            made = {t for m in self.maps for t in _list_triples(m, base, wanted)}
            return frozenset(close_graph(made | self.facts, self.ontology))

        static = close()
        moments: dict[datetime, dict[str, list[tuple[Any, ...]]]] = {}
        for name, table in streams.items():
            for moment, row in self._rows(table):
                moments.setdefault(moment, {}).setdefault(name, []).append(row)
        at = {}
        for moment in sorted(moments):
            for name, table in streams.items():
                base.execute(f'DELETE FROM "{name}"')
                _insert(base, name, table, moments[moment].get(name, []))
            for name, table in versions.items():
                followed = streams[table["versions"]["stream"]]
                base.execute(f'DELETE FROM "{name}"')
                _insert(base, name, followed, self._list_versions(table["versions"], moment))
            at[moment] = close()
        base.close()
        return Graphs(static, at)

    def _list_versions(self, said: dict[str, Any], moment: datetime) -> list[tuple[Any, ...]]:
        """The latest row of each key at a time, but where it says that there is none any more."""
        followed = self.catalog["streams"][said["stream"]]
        names, latest = list(_kinds(followed)), {}
        for at, row in self._rows(followed):
            cells = dict(zip(names, row, strict=True))
            key = tuple(cells[name] for name in said["key"])
            if at <= moment and None not in key:
                latest[key] = (row, cells)
        gone = said.get("delete")
        return [row for row, cells in latest.values() if gone is None or cells[gone] != "true"]

    def _rows(self, table: dict[str, Any]) -> Iterator[tuple[datetime, tuple[Any, ...]]]:
        """The rows of a table with their times; an empty cell is NULL."""
        time = table.get("timestamp", {}).get("column")
        kinds = _kinds(table)
        with (self.folder / table["source"]["path"]).open(newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                moment = datetime.fromisoformat(line[time]) if time else datetime.min
                read = _read_text if self.computed else _read
                yield moment, tuple(read(line[c], kinds[c]) for c in kinds)


_KNOWN: dict[bytes, Graphs] = {}
_FEW = 8
"""The graphs of so many contents are known."""


def known_graphs(folder: Path, *, computed: bool = False) -> Graphs:
    """The graphs that a project's data makes; those of the last few contents are known."""
    files = sorted(f for f in folder.rglob("*") if f.suffix in (".csv", ".ttl", ".toml"))
    content = b"".join(f.name.encode() + f.read_bytes() for f in files)
    key = hashlib.sha256(content + bytes([computed])).digest()
    if key not in _KNOWN:
        while len(_KNOWN) >= _FEW:
            _KNOWN.pop(next(iter(_KNOWN)))
        _KNOWN[key] = Project(folder, computed=computed).read_graphs()
    return _KNOWN[key]


def _list_triples(made: TriplesMap, base: Base, wanted: set[URIRef]) -> Iterator[Triple]:
    """The triples of a map that are in the wanted graphs."""
    rows = [(row, s) for row in _select(base, made.sql) if (s := made.subject(row)) is not None]
    if made.graphs & wanted:
        yield from ((s, RDF.type, c) for c in made.classes for _, s in rows)
    for pair in made.pairs:
        if not pair.graphs & wanted:
            continue
        if pair.parent is None:
            for row, s in rows:
                o = pair.term(row)
                if o is not None:
                    yield s, pair.predicate, o
            continue
        for other in _select(base, pair.parent):
            o = pair.term(other)
            for row, s in rows:
                if o is not None and all(row[a] == other[b] is not None for a, b in pair.joins):
                    yield s, pair.predicate, o


def _kinds(table: dict[str, Any]) -> dict[str, str]:
    """The types of a table's columns, its timestamp last."""
    kinds = {
        name: str(declared["type"] if isinstance(declared, dict) else declared)
        for name, declared in table["columns"].items()
    }
    return {
        **kinds,
        **({table["timestamp"]["column"]: "timestamp"} if "timestamp" in table else {}),
    }


def _read(text: str, kind: str) -> int | str | None:
    """A cell as SQLite has it: numbers and texts; other values as read_maps.py writes them."""
    if text == "":
        return None
    match kind:
        case "int":
            return int(text)
        case "string":
            return text
        case _:
            return write_typed(text, kind)


def _read_text(text: str, kind: str) -> str | None:
    """A cell as DuckDB reads it."""
    return text or None


def _name_type(kind: str, computed: bool) -> str:
    if not computed:
        return "INT" if kind == "int" else "TEXT"
    return {"int": "BIGINT", "string": "VARCHAR"}.get(kind, kind.upper())


def _insert(base: Base, name: str, table: dict[str, Any], rows: list[tuple[Any, ...]]) -> None:
    places = ", ".join("?" * len(_kinds(table)))
    for row in rows:
        base.execute(f'INSERT INTO "{name}" VALUES ({places})', row)


def _select(base: Base, sql: str) -> Iterator[dict[str, Any]]:
    cursor = base.execute(sql)
    names = [column[0] for column in cursor.description]
    for row in cursor.fetchall():
        yield dict(zip(names, row, strict=True))
