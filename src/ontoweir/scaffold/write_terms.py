"""Write an ontology and a mapping for tables: a class for each, a property for each column."""

import re
from collections.abc import Iterator

from ontoweir.mappings.model.catalog import Catalog, Relation, Stream
from ontoweir.scaffold.describe_stream import Subject, describe_stream

_PREFIXES = """\
@prefix :     <{base}ns#> .
@prefix owl:  <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sosa: <http://www.w3.org/ns/sosa/> .
"""


def _words(text: str) -> list[str]:
    """The words of a name; capitals alone say nothing."""
    return [w for w in re.split(r"[_\W]+", text.lower() if text.isupper() else text) if w]


def class_of(table: str) -> str:
    """The class of a table's rows: `room_sensors` has `RoomSensor`."""
    words = _words(table)
    last = words[-1]
    if len(last) > 3 and last.endswith("s") and not last.endswith("ss"):
        words[-1] = last[:-1]
    return "".join(w[:1].upper() + w[1:] for w in words)


def property_of(column: str) -> str:
    """The property of a column: `avg_speed` has `avgSpeed`."""
    words = _words(column) or ["value"]
    name = words[0][:1].lower() + words[0][1:] + "".join(w[:1].upper() + w[1:] for w in words[1:])
    return name if not name[0].isdigit() else f"p{name}"


def write_ontology(catalog: Catalog, base: str) -> str:
    """The ontology: rows of streams that are about something and have a value are observations.

    Args:
        catalog: the tables.
        base: of all IRIs.
    """
    lines = [_PREFIXES.format(base=base), f"<{base}ns> a owl:Ontology .", ""]
    classes = {class_of(n): "" for n in catalog.relations}
    for name, stream in catalog.streams.items():
        subject = describe_stream(stream, catalog)
        observes = subject.entity is not None and subject.value is not None
        classes[class_of(name)] = " ; rdfs:subClassOf sosa:Observation" if observes else ""
        if subject.entity is not None and subject.relation is None:
            classes.setdefault(_entity_class(subject), "")
    lines.append("sosa:Observation a owl:Class .")
    lines.append("sosa:resultTime a owl:DatatypeProperty .")
    lines += [f":{name} a owl:Class{above} ." for name, above in classes.items()]
    lines.append("")
    declared = set()
    tables: list[Stream | Relation] = [*catalog.streams.values(), *catalog.relations.values()]
    for column in (c for table in tables for c in table.columns):
        name = property_of(column.name)
        if name not in declared:
            declared.add(name)
            lines.append(f":{name} a owl:DatatypeProperty .")
    for name, stream in catalog.streams.items():
        subject = describe_stream(stream, catalog)
        if subject.entity is not None:
            about, kind = about_of(subject), _entity_class(subject)
            ends = f"rdfs:domain :{class_of(name)} ; rdfs:range :{kind}"
            lines.append(f":{about} a owl:ObjectProperty ; {ends} .")
    return "\n".join(lines) + "\n"


def about_of(subject: Subject) -> str:
    """The property from a row to what it is about."""
    assert subject.entity is not None
    return f"of{_entity_class(subject)}"


def _entity_class(subject: Subject) -> str:
    assert subject.entity is not None
    if subject.relation is not None:
        return class_of(subject.relation)
    name = re.sub(r"[_\W]*id$", "", subject.entity, flags=re.IGNORECASE) or subject.entity
    return class_of(name)


def write_mapping(catalog: Catalog, base: str) -> str:
    """The mapping in R2RML.

    Args:
        catalog: the tables.
        base: of all IRIs.
    """
    lines = [
        f"@prefix :     <{base}ns#> .",
        "@prefix rr:   <http://www.w3.org/ns/r2rml#> .",
        "@prefix sosa: <http://www.w3.org/ns/sosa/> .",
        f"@base <{base}mapping/> .",
    ]
    for stream in catalog.streams.values():
        lines += ["", *_map_stream(stream, catalog, base)]
    for relation in catalog.relations.values():
        lines += ["", *_map_relation(relation, base)]
    return "\n".join(lines) + "\n"


def _map_stream(stream: Stream, catalog: Catalog, base: str) -> Iterator[str]:
    subject = describe_stream(stream, catalog)
    keys = [n for key in stream.keys[:1] for n in key if n != stream.timestamp]
    names = keys or ([subject.entity] if subject.entity is not None else [])
    places = "/".join(f"{{{n}}}" for n in [*names, stream.timestamp])
    yield f"# A {class_of(stream.name)} is called after what tells it apart, and holds at its time."
    yield from _head(stream.name, f"{base}{stream.name}/{places}")
    parts = [("sosa:resultTime", f'rr:column "{stream.timestamp}"')]
    if subject.entity is not None:
        target = f"{base}{_entity_path(subject)}/{{{subject.entity}}}"
        parts.append((f":{about_of(subject)}", f'rr:template "{target}"'))
    parts += [(f":{property_of(c.name)}", f'rr:column "{c.name}"') for c in stream.columns]
    yield from _properties(parts)
    if subject.entity is not None and subject.relation is None:
        yield ""
        yield from _head(
            stream.name, f"{base}{_entity_path(subject)}/{{{subject.entity}}}", subject
        )


def _map_relation(relation: Relation, base: str) -> Iterator[str]:
    names = relation.keys[0] if relation.keys else tuple(c.name for c in relation.columns)
    places = "/".join(f"{{{n}}}" for n in names)
    yield from _head(relation.name, f"{base}{relation.name}/{places}")
    yield from _properties(
        [(f":{property_of(c.name)}", f'rr:column "{c.name}"') for c in relation.columns]
    )


def _entity_path(subject: Subject) -> str:
    return subject.relation or _entity_class(subject).lower()


def _head(table: str, template: str, subject: Subject | None = None) -> Iterator[str]:
    name = class_of(table) if subject is None else _entity_class(subject)
    # of one entity several streams, or a table of its own, may speak
    called = name if subject is None else f"{class_of(table)}-{name}"
    yield f"<{called}> a rr:TriplesMap ;"
    yield f'    rr:logicalTable [ rr:tableName "{table}" ] ;'
    end = " ." if subject is not None else " ;"
    yield f'    rr:subjectMap [ rr:template "{template}" ; rr:class :{name} ]{end}'


def _properties(parts: "list[tuple[str, str]]") -> Iterator[str]:
    yield "    rr:predicateObjectMap"
    for number, (name, value) in enumerate(parts, 1):
        end = " ." if number == len(parts) else " ,"
        yield f"        [ rr:predicate {name} ; rr:objectMap [ {value} ] ]{end}"
