"""The triples that an R2RML document makes of a database: R2RML section 11."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

from ontoweir.errors import DataError, MappingError, Source
from ontoweir.mappings.materialize.make_term import TermMaker, make_term
from ontoweir.mappings.materialize.read_rows import (
    Row,
    RowTable,
    join_tables,
    open_table,
    read_rows,
    unquote_name,
)
from ontoweir.mappings.r2rml.r2rml_document import (
    DEFAULT_GRAPH,
    RDF_TYPE,
    AnyTerm,
    ParentReference,
    PredicateObjectMap,
    R2rmlDocument,
    RowTerm,
    TriplesMap,
)
from ontoweir.mappings.r2rml.read_r2rml import read_r2rml

OnDataError: TypeAlias = Callable[[DataError], None]
"""Called with a value that cannot become its term."""
OnRefused: TypeAlias = Callable[[MappingError], None]
"""Called with what is wrong in a triples map."""


def materialize_triples(
    mapping: Path,
    database: Path,
    *,
    base: str | None = None,
    on_data_error: OnDataError | None = None,
    on_refused: OnRefused | None = None,
) -> list[str]:
    """All quads, each once, as lines of N-Quads without the line end, in the order of the rows.

    Args:
        mapping: an R2RML document, or an .obda file.
        database: an SQLite file, which is only read.
        base: the base IRI; by default the document's, else http://example.com/base/.
        on_data_error: called with each value that cannot become its term, whose triples are then
            left out. By default that ends it all, as R2RML section 4.2 demands.
        on_refused: called with what is wrong in each triples map, whose triples are then left out.
            By default the first ends it all.

    Raises:
        MappingError: the document is not R2RML, or does not fit the database.
        DataError: the database cannot be read, or a value cannot become its term.
    """
    document = read_r2rml(mapping, base=base, partial=on_refused is not None)
    connection = _connect(database)
    try:
        maker = _Maker(document, connection, on_data_error, on_refused)
        return list(dict.fromkeys(maker.quads()))
    finally:
        connection.close()


def _connect(database: Path) -> sqlite3.Connection:
    def error(what: str) -> DataError:
        return DataError(
            what,
            why="--database names no SQLite file that can be read",
            fix="correct the path: sqlite:FILE",
            source=Source(str(database)),
        )

    if not database.is_file():
        raise error("no such database")
    connection = sqlite3.connect(f"file:{quote(str(database))}?mode=ro", uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as reason:
        connection.close()
        raise error(str(reason)) from None
    return connection


class _Maker:
    def __init__(
        self,
        document: R2rmlDocument,
        connection: sqlite3.Connection,
        on_data_error: OnDataError | None,
        on_refused: OnRefused | None,
    ) -> None:
        self.document, self.connection = document, connection
        self.on_data_error, self.on_refused = on_data_error, on_refused
        self.maps = {m.name: m for m in document.maps}
        self.tables: dict[str, RowTable] = {}
        self.wrong: dict[str, MappingError] = {}
        for name, refused in document.refused:
            self._refuse(name, refused.error)
        for triples_map in document.maps:
            try:
                _refuse_two_spellings(triples_map)
                self.tables[triples_map.name] = open_table(connection, triples_map.table)
            except MappingError as error:
                self._refuse(triples_map.name, error)

    def _refuse(self, name: str, error: MappingError) -> None:
        if self.on_refused is None:
            raise error
        self.wrong[name] = error
        self.on_refused(error)

    def quads(self) -> Iterator[str]:
        for triples_map in self.document.maps:
            if triples_map.name in self.wrong:
                continue
            try:
                made = tuple(self._quads_of(triples_map))
            except MappingError as error:
                self._refuse(triples_map.name, error)
            else:
                yield from made

    def _quads_of(self, triples_map: TriplesMap) -> Iterator[str]:
        yield from self._own_quads(triples_map)
        for pair in triples_map.predicate_objects:
            for target in pair.objects:
                if isinstance(target, ParentReference):
                    yield from self._joined_quads(triples_map, pair, target)

    def _makers(self, terms: Sequence[AnyTerm], table: RowTable) -> list[TermMaker]:
        return [self._maker(t, table) for t in terms]

    def _maker(self, term: AnyTerm, table: RowTable) -> TermMaker:
        make, report = make_term(term, table, self.document.base), self.on_data_error
        if report is None:
            return make

        def make_or_report(row: Row) -> str | None:
            try:
                return make(row)
            except DataError as error:
                report(error)
                return None

        return make_or_report

    def _own_quads(self, triples_map: TriplesMap) -> Iterator[str]:
        table = self.tables[triples_map.name]
        make_subject = self._maker(triples_map.subject, table)
        own = self._makers(triples_map.graphs, table)
        pairs = [
            (
                self._makers(p.predicates, table),
                self._makers([o for o in p.objects if not isinstance(o, ParentReference)], table),
                [*own, *self._makers(p.graphs, table)],
            )
            for p in triples_map.predicate_objects
        ]
        for row in read_rows(self.connection, table):
            subject = make_subject(row)
            if subject is None:
                continue
            for cls in triples_map.classes:
                yield from _in_graphs(subject, f"<{RDF_TYPE}>", f"<{cls}>", own, row)
            for predicates, objects, graphs in pairs:
                made = [o for m in objects if (o := m(row)) is not None]
                for predicate in (p for m in predicates if (p := m(row)) is not None):
                    for value in made:
                        yield from _in_graphs(subject, predicate, value, graphs, row)

    def _joined_quads(
        self, triples_map: TriplesMap, pair: PredicateObjectMap, reference: ParentReference
    ) -> Iterator[str]:
        if reference.parent in self.wrong:
            raise self.wrong[reference.parent].again()
        table = self.tables[triples_map.name]
        parent = self.maps[reference.parent]
        above = self.tables[reference.parent]
        if reference.joins:
            joins = [
                (table.position(j.child, j.child_source), above.position(j.parent, j.parent_source))
                for j in reference.joins
            ]
            rows = join_tables(self.connection, table, above, joins)
        else:
            if table.sql != above.sql:
                raise MappingError(
                    "rr:parentTriplesMap without rr:joinCondition",
                    why="its logical table is another one",
                    fix='add rr:joinCondition [ rr:child "…"; rr:parent "…" ]',
                    source=reference.source,
                )
            rows = ((row, row) for row in read_rows(self.connection, table))
        make_subject = self._maker(triples_map.subject, table)
        make_object = self._maker(parent.subject, above)
        predicates = self._makers(pair.predicates, table)
        graphs = self._makers((*triples_map.graphs, *pair.graphs), table)
        for row, other in rows:
            subject, value = make_subject(row), make_object(other)
            if subject is None or value is None:
                continue
            for predicate in (p for m in predicates if (p := m(row)) is not None):
                yield from _in_graphs(subject, predicate, value, graphs, row)


def _in_graphs(s: str, p: str, o: str, graphs: Sequence[TermMaker], row: Row) -> Iterator[str]:
    """The triple in each graph; in the default graph when there is no graph map at all."""
    if not graphs:
        yield f"{s} {p} {o} ."
    for make in graphs:
        graph = make(row)
        if graph == f"<{DEFAULT_GRAPH}>":
            yield f"{s} {p} {o} ."
        elif graph is not None:
            yield f"{s} {p} {o} {graph} ."


def _refuse_two_spellings(triples_map: TriplesMap) -> None:
    """Refuses a column that is named in quotes and without: "Name" and Name.

    SQL reads Name without quotes as NAME, another column (R2RML section 2; W3C case D002f).
    SQLite has only one of them, so a document that uses both names one that is not there. Where
    all names are without quotes they are SQLite's, which have no case.
    """
    terms = [triples_map.subject, *triples_map.graphs]
    for pair in triples_map.predicate_objects:
        terms += [*pair.predicates, *pair.graphs]
        terms += [o for o in pair.objects if not isinstance(o, ParentReference)]
    rows = [t for t in terms if isinstance(t, RowTerm)]
    written = [(text, t) for t in rows for is_column, text in t.parts if is_column]
    delimited = {name for text, _ in written for name, quoted in [unquote_name(text)] if quoted}
    for text, term in written:
        name, quoted = unquote_name(text)
        if not quoted and name in delimited and name != name.upper():
            raise MappingError(
                f'the column {name} is also named "{name}", in quotes',
                why=f"without quotes SQL reads it as {name.upper()}, another column",
                fix=f'write {{\\"{name}\\"}} in both places, or no quotes in both',
                source=term.source,
            )
