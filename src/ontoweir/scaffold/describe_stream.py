"""What a stream is about, for an ontology: what is observed, and which column is its value."""

from dataclasses import dataclass

from ontoweir.mappings.model.catalog import (
    Catalog,
    DecimalType,
    FloatType,
    IntType,
    Stream,
    StringType,
)


@dataclass(frozen=True, slots=True)
class Subject:
    """`entity`: the column that says what a row is about (None: none does), `relation`: the static
    relation that knows it (None: none does); `value`: the first column of measured numbers (None:
    there is none)."""

    entity: str | None
    relation: str | None
    value: str | None


def describe_stream(stream: Stream, catalog: Catalog) -> Subject:
    """What a stream is about: what it references; else what tells the rows of a timestamp apart;
    else a column of texts."""
    entity = relation = None
    for reference in stream.references:
        if len(reference.columns) == 1 and entity is None:
            entity, relation = reference.columns[0], reference.relation
    names = [c.name for c in stream.columns]
    for key in stream.keys:
        others = [n for n in key if n != stream.timestamp]
        if entity is None and len(others) == 1 and len(key) == 2 and others[0] in names:
            entity = others[0]
    texts = (c.name for c in stream.columns if isinstance(c.type, StringType))
    entity = entity or next(texts, None)
    numbers = [
        c.name
        for c in stream.columns
        if isinstance(c.type, IntType | DecimalType | FloatType) and c.name != entity
    ]
    kinds = {c.name: c.type for c in stream.columns}
    measured = [n for n in numbers if not isinstance(kinds[n], IntType)]
    keys = {n for key in stream.keys for n in key}
    plain = [n for n in numbers if n not in keys and not n.lower().endswith("id")]
    return Subject(entity, relation, next(iter([*measured, *plain]), None))
