"""Write an ontology and a mapping for tables, with the terms that they have."""

import re
from collections.abc import Collection, Iterator, Mapping

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.scaffold.terms.choose_terms import Chosen
from ontoweir.scaffold.terms.describe_stream import Subject, describe_stream, find_own_id
from ontoweir.scaffold.terms.find_units import QUDT, UNIT, find_unit
from ontoweir.scaffold.terms.name_terms import class_of
from ontoweir.scaffold.terms.terms import RESULT_TIME, SOSA, Term, Terms, entity_name, entity_path

_UNITS = {QUDT: "qudt", UNIT: "unit"}
_W3 = {
    "http://www.w3.org/2002/07/owl#": "owl",
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs",
    SOSA: "sosa",
}


def write_ontology(catalog: Catalog, chosen: Chosen) -> str | None:
    """The ontology of the project's own terms: rows of streams that are about something and have a
    value are observations. None, where all terms are those of another one.

    Args:
        catalog: the tables.
        chosen: the terms.
    """
    terms = chosen.terms
    classes: dict[str, str] = {}
    for name in catalog.relations:
        _declare(terms, terms.classes[name], "", classes)
    for name, stream in catalog.streams.items():
        subject = describe_stream(stream, catalog)
        observes = subject.entity is not None and subject.value is not None
        above = " ; rdfs:subClassOf sosa:Observation" if observes else ""
        _declare(terms, terms.classes[name], above, classes)
        if name in terms.entities:
            _declare(terms, terms.entities[name], "", classes)
    values: dict[str, str] = {}
    for (_, column), term in terms.columns.items():
        _declare(terms, term, _describe_unit(column), values)
    leads: dict[str, str] = {}
    for name, term in terms.about.items():
        _declare(terms, term, _describe_ends(name, terms), leads)
    for term in terms.links.values():
        _declare(terms, term, "", leads)
    timed = values.pop(terms.show(RESULT_TIME), None) is not None
    if chosen.vocabulary is not None and not (classes or values or leads or timed):
        return None
    body = [f"<{terms.base}ns> a owl:Ontology .", ""]
    if not _knows(chosen, f"{SOSA}Observation"):
        body.append("sosa:Observation a owl:Class .")
    if timed and not _knows(chosen, RESULT_TIME):
        body.append("sosa:resultTime a owl:DatatypeProperty .")
    body += [f"{name} a owl:Class{above} ." for name, above in classes.items()]
    if any("qudt:hasUnit" in unit for unit in values.values()):
        body.append("qudt:hasUnit a owl:AnnotationProperty .")
    body += ["", *(_end(f"{name} a owl:DatatypeProperty{unit}") for name, unit in values.items())]
    body += [f"{name} a owl:ObjectProperty{ends} ." for name, ends in leads.items()]
    used = {space: name for space, name in _UNITS.items() if any(f"{name}:" in x for x in body)}
    return "\n".join([*_prefixes(_W3 | used, terms, body), "", *body]) + "\n"


def _describe_ends(stream: str, terms: Terms) -> str:
    """What is said of the property that leads from a stream's rows to what they are about: from
    which class, and to which, where that is always the same one. Else rows of each would be of the
    others' classes, too."""
    iri = terms.about[stream].iri
    mine = [n for n, term in terms.about.items() if term.iri == iri]
    linked = [name for (name, _), term in terms.links.items() if term.iri == iri]
    ends = (("domain", terms.classes, [*mine, *linked]), ("range", terms.entities, mine))
    said = ((end, {kinds[n].iri for n in names}) for end, kinds, names in ends)
    return "".join(f" ; rdfs:{end} {terms.show(*iris)}" for end, iris in said if len(iris) == 1)


def _describe_unit(column: str) -> str:
    """What is said of a property whose column's name has a unit of measure."""
    found = find_unit(column)
    if found is None:
        return ""
    unit, said = found
    return f" ; qudt:hasUnit unit:{unit.removeprefix(UNIT)} # guessed: its name says {said}"


def _end(statement: str) -> str:
    """A statement with its point, before its comment."""
    said, mark, comment = statement.partition(" # guessed:")
    return f"{said} .{mark}{comment}"


def _declare(terms: Terms, term: Term, more: str, into: dict[str, str]) -> None:
    """Note a term of the project's own, with what else is said of it; the first who says it."""
    if terms.is_own(term):
        into.setdefault(terms.show(term.iri), "")
        into[terms.show(term.iri)] = into[terms.show(term.iri)] or more


def _knows(chosen: Chosen, iri: str) -> bool:
    return chosen.vocabulary is not None and chosen.vocabulary.tbox.knows(iri)


def _prefixes(fixed: Mapping[str, str], terms: Terms, body: Collection[str]) -> Iterator[str]:
    """The prefixes of a document: some that it has anyway, and those that it uses; an ontology may
    have another prefix for one of the former."""
    text = "\n".join(body)
    yield f"@prefix : <{terms.base}ns#> ."
    for space, name in dict.fromkeys([*fixed.items(), *terms.prefixes.items()]):
        if name and (fixed.get(space) == name or re.search(rf"(?<!\S){re.escape(name)}:", text)):
            yield f"@prefix {name}: <{space}> ."


def write_mapping(catalog: Catalog, chosen: Chosen) -> str:
    """The mapping in R2RML; behind terms of another ontology, why they are taken.

    Args:
        catalog: the tables.
        chosen: the terms.
    """
    terms = chosen.terms
    body: list[str] = [*_describe_choice(chosen)]
    for stream in catalog.streams.values():
        body += ["", *_map_stream(stream, catalog, terms)]
    for relation in catalog.relations.values():
        body += ["", *_map_relation(relation, terms)]
    fixed = {"http://www.w3.org/ns/r2rml#": "rr", SOSA: "sosa"}
    head = [*_prefixes(fixed, terms, body), f"@base <{terms.base}mapping/> ."]
    return "\n".join([*head, *body]) + "\n"


def _describe_choice(chosen: Chosen) -> Iterator[str]:
    if chosen.vocabulary is None:
        return
    yield ""
    yield f"# Terms of {chosen.vocabulary.file.name}: each `guessed`, by what is said behind it."
    for one in chosen.others:
        why = "" if one.doubt is None else f", but {one.doubt}"
        yield _plain(
            f"# Not taken: {chosen.terms.show(one.term)} for {one.place}: {one.because}{why}."
        )


def _map_stream(stream: Stream, catalog: Catalog, terms: Terms) -> Iterator[str]:
    subject = describe_stream(stream, catalog)
    keys = [n for key in stream.keys[:1] for n in key if n != stream.timestamp]
    names = keys or ([subject.entity] if subject.entity is not None else [])
    own = find_own_id(stream)
    called_by = [*names, stream.timestamp] if own is None else [own]
    places = "/".join(f"{{{n}}}" for n in called_by)
    called = class_of(stream.name)
    article = "An" if called[0] in "AEIOU" else "A"
    yield f"# {article} {called} is called after what tells it apart, and holds at its time."
    template = f"{terms.base}{stream.name}/{places}"
    yield from _head(class_of(stream.name), stream.name, template, terms, terms.classes)
    time = terms.columns[stream.name, stream.timestamp]
    parts = [(time, f'rr:column "{stream.timestamp}"')]
    entity = ""
    if subject.entity is not None:
        entity = _thing(terms, stream.name, subject)
        parts.append((terms.about[stream.name], f'rr:template "{entity}"'))
    known = {
        r.columns[0]: f"{stream.name}.{r.columns[0]} references {r.relation}.{r.to[0]}"
        for r in stream.references
    }
    told = {
        f'rr:template "{_thing(terms, stream.name, Subject(column, None, None))}"': known.get(
            column, same.because
        )
        for (name, column), same in terms.shared.items()
        if name == stream.name
    }
    itself = f'rr:template "{template}"'
    parts += [(term, value) for term, value in _columns(stream, terms) if value != itself]
    yield from _properties(terms, parts, told)
    if subject.entity is not None and subject.relation is None:
        yield ""
        # of one entity several streams, or a table of its own, may speak
        called = f"{class_of(stream.name)}-{entity_name(subject)}"
        yield from _head(called, stream.name, entity, terms, terms.entities, end=True)


def _map_relation(relation: Relation, terms: Terms) -> Iterator[str]:
    names = relation.keys[0] if relation.keys else tuple(c.name for c in relation.columns)
    places = "/".join(f"{{{n}}}" for n in names)
    template = f"{terms.base}{relation.name}/{places}"
    yield from _head(class_of(relation.name), relation.name, template, terms, terms.classes)
    yield from _properties(terms, [*_columns(relation, terms)])


def _columns(table: Stream | Relation, terms: Terms) -> Iterator[tuple[Term, str]]:
    """The properties of columns; of one that leads to what a column names, in its place."""
    references: dict[str, str] = {}
    if isinstance(table, Stream):
        references = {r.columns[0]: r.relation for r in table.references if len(r.columns) == 1}
    for column in table.columns:
        term, link = (m.get((table.name, column.name)) for m in (terms.columns, terms.links))
        assert term is not None
        if link is not None:
            subject = Subject(column.name, references.get(column.name), None)
            yield link, f'rr:template "{_thing(terms, table.name, subject)}"'
        if link is None or terms.is_own(link) or not terms.is_own(term):
            yield term, f'rr:column "{column.name}"'


def _thing(terms: Terms, table: str, subject: Subject) -> str:
    """The template of what a column names: the same as in other streams that name it."""
    assert subject.entity is not None
    same = terms.shared.get((table, subject.entity))
    path = entity_path(subject) if same is None else same.path
    return f"{terms.base}{path}/{{{subject.entity}}}"


def _head(
    called: str,
    table: str,
    template: str,
    terms: Terms,
    kinds: Mapping[str, Term],
    *,
    end: bool = False,
) -> Iterator[str]:
    kind = kinds[table]
    yield f"<{called}> a rr:TriplesMap ;"
    yield f'    rr:logicalTable [ rr:tableName "{table}" ] ;'
    rest = " ." if end else " ;"
    shown = f'[ rr:template "{template}" ; rr:class {terms.show(kind.iri)} ]{rest}'
    yield f"    rr:subjectMap {shown}{_because(kind)}"


def _properties(
    terms: Terms, parts: "list[tuple[Term, str]]", told: Mapping[str, str] | None = None
) -> Iterator[str]:
    """`told`: by object map, why things have the IRIs that they have."""
    yield "    rr:predicateObjectMap"
    for number, (term, value) in enumerate(parts, 1):
        end = " ." if number == len(parts) else " ,"
        shown = f"rr:predicate {terms.show(term.iri)} ; rr:objectMap [ {value} ]"
        why = [because for because in (term.because, (told or {}).get(value)) if because]
        said = _plain(f" # guessed: {'; '.join(why)}") if why else ""
        yield f"        [ {shown} ]{end}{said}"


def _because(term: Term) -> str:
    return "" if term.because is None else _plain(f" # guessed: {term.because}")


def _plain(text: str) -> str:
    """A comment on one line."""
    return " ".join(text.split()) if not text.startswith(" ") else f" {' '.join(text.split())}"
