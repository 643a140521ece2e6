"""The terms that a project has for its tables and columns."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, count

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.scaffold.terms.describe_stream import Subject, describe_stream
from ontoweir.scaffold.terms.find_coordinates import GEO, find_coordinates
from ontoweir.scaffold.terms.name_terms import class_of, local_name, property_of, without_id

SOSA = "http://www.w3.org/ns/sosa/"
RESULT_TIME = f"{SOSA}resultTime"


@dataclass(frozen=True, slots=True)
class Term:
    """A class or a property. `because`: why that of an ontology is taken (None: it is the
    project's own, after the name of its table or column)."""

    iri: str
    because: str | None = None


@dataclass(frozen=True, slots=True)
class Shared:
    """What several columns call the same things: the `path` of their IRIs, before the value, the
    name of their class (`kind`), and the evidence that they are the same."""

    path: str
    kind: str
    because: str


@dataclass(frozen=True, slots=True)
class Terms:
    """By table: the class of its rows. By stream: of what its rows are about, the class, and the
    property that leads there. By table and column: the property of its values (a stream's time is a
    column); and `links`: properties that lead from a row to what a column names. `prefixes`: by
    namespace. `base`: of all IRIs that are the project's own. `shared`: by stream and column, what
    other streams name, too, as it seems."""

    base: str
    classes: Mapping[str, Term]
    entities: Mapping[str, Term]
    about: Mapping[str, Term]
    columns: Mapping[tuple[str, str], Term]
    links: Mapping[tuple[str, str], Term] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)
    shared: Mapping[tuple[str, str], Shared] = field(default_factory=dict)

    def show(self, iri: str) -> str:
        """An IRI in Turtle and SPARQL: with its prefix, if it has one."""
        local = local_name(iri)
        prefix = self.prefixes.get(iri[: len(iri) - len(local)])
        plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", local) is not None
        return f"{prefix}:{local}" if prefix is not None and plain else f"<{iri}>"

    def is_own(self, term: Term) -> bool:
        """Whether a term is one of the project's own."""
        return term.because is None


def own_terms(
    catalog: Catalog, base: str, shared: Mapping[tuple[str, str], Shared] | None = None
) -> Terms:
    """A class for each table, and a property for each column; places have the W3C's. From columns
    that name what other streams know, and that rows are not about, a property leads there, too.

    Args:
        catalog: the tables.
        base: of all IRIs.
        shared: by stream and column, what other streams name, too.
    """
    shared = shared or {}
    own = f"{base}ns#"
    classes = {n: Term(own + class_of(n)) for n in (*catalog.streams, *catalog.relations)}
    subjects = {n: describe_stream(s, catalog) for n, s in catalog.streams.items()}
    kinds = {
        n: entity_name(s) if (n, s.entity) not in shared else shared[n, s.entity].kind
        for n, s in subjects.items()
        if s.entity is not None
    }
    things = {kinds[n] for n, s in subjects.items() if n in kinds and s.relation is None}
    for name in catalog.streams:
        if class_of(name) in things:  # rows of `orders` about an `order_id` are no orders
            classes[name] = Term(f"{own}{class_of(name)}Event")
    entities, about = {}, {}
    columns = {(n, s.timestamp): Term(RESULT_TIME) for n, s in catalog.streams.items()}
    for name, kind in kinds.items():
        rows = subjects[name].relation
        entities[name] = Term(own + kind) if rows is None else classes[rows]
        about[name] = Term(f"{own}of{kind}")
    tables: list[Stream | Relation] = [*catalog.streams.values(), *catalog.relations.values()]
    for table in tables:
        places, taken = find_coordinates(table), set[str]()
        for column in table.columns:
            name = _find_free(property_of(column.name), taken)
            columns[table.name, column.name] = Term(places.get(column.name, own + name))
    links: dict[tuple[str, str], Term] = {}
    for (name, linked), same in shared.items():
        if subjects[name].entity == linked:
            continue
        mine = {links[at].iri for at in links if at[0] == name}
        mine |= {about[name].iri} if name in about else set()
        iri = f"{own}of{same.kind}"
        if iri in mine:  # two columns name such things
            iri = f"{own}of{class_of(linked)}Column"
        links[name, linked] = Term(iri)
    prefixes = {own: "", SOSA: "sosa", GEO: "geo"}
    return Terms(base, classes, entities, about, columns, links, prefixes, shared)


def _find_free(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken: `temp` and `Temp` are two properties."""
    numbered = (f"{name}{n}" for n in count(2))
    free = next(one for one in chain([name], numbered) if one not in taken)
    taken.add(free)
    return free


def entity_path(subject: Subject) -> str:
    """What the IRIs of what rows are about have before its name."""
    return subject.relation or entity_name(subject).lower()


def entity_name(subject: Subject) -> str:
    """The name of the class of what rows are about: that of its table, or of its column."""
    assert subject.entity is not None
    if subject.relation is not None:
        return class_of(subject.relation)
    return class_of(without_id(subject.entity))
