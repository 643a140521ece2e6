"""Gives a mapping assertion fresh aliases, as part of an SPJ query."""

from dataclasses import dataclass
from typing import assert_never

from ontoweir.mappings.model.assertion import (
    ColumnMap,
    ConstantMap,
    MappingAssertion,
    SourceColumn,
    SourceCompare,
    SourceCondition,
    SourceNotNull,
    SourceOneOf,
    TemplateMap,
    TermMap,
    term_columns,
)
from ontoweir.mappings.model.catalog import Catalog, Stream
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    Compare,
    Condition,
    Constant,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NotNull,
    Occurrence,
    OneOf,
    Op,
    Output,
    Provenance,
    SpjQuery,
    TemplateLiteralOutput,
)


@dataclass(frozen=True, slots=True)
class Instance:
    """An assertion under fresh aliases; `time` is its stream's timestamp, None when static."""

    occurrences: tuple[Occurrence, ...]
    conditions: tuple[Condition, ...]
    subject: Output
    object: Output | None
    time: Attribute | None
    provenance: Provenance


def instantiate_assertion(assertion: MappingAssertion, start: int, catalog: Catalog) -> Instance:
    """The assertion with aliases `<table>_<n>`, n counting from `start`."""
    renaming = {
        t.alias: f"{''.join(c if c.isalnum() else '_' for c in t.table)}_{n}"
        for n, t in enumerate(assertion.source.tables, start=start)
    }

    def column(c: SourceColumn) -> Attribute:
        return Attribute(renaming[c.alias], c.column)

    def condition(c: SourceCondition) -> Condition:
        match c:
            case SourceNotNull():
                return NotNull(column(c.column), assertion.place)
            case SourceOneOf():
                return OneOf(column(c.column), c.values, assertion.place)
            case SourceCompare():
                right = (
                    column(c.right)
                    if isinstance(c.right, SourceColumn)
                    else Constant(c.right.value)
                )
                return Compare(column(c.left), Op(c.op), right, c.offset, assertion.place)
            case _ as unreachable:
                assert_never(unreachable)

    def term(t: TermMap) -> Output:
        match t:
            case ConstantMap():
                return ConstantOutput(t.value, t.is_iri, t.datatype, t.language)
            case ColumnMap():
                return LiteralOutput(column(t.column), t.datatype, t.language)
            case TemplateMap():
                parts = tuple(column(p) if isinstance(p, SourceColumn) else p for p in t.parts)
                if t.kind == "iri":
                    return IriOutput(parts)
                if t.kind == "blank":
                    return BlankOutput(parts)
                return TemplateLiteralOutput(parts, t.datatype, t.language)
            case _ as unreachable:
                assert_never(unreachable)

    time: Attribute | None = None
    if assertion.stream_alias is not None:
        table = next(t.table for t in assertion.source.tables if t.alias == assertion.stream_alias)
        stream = catalog.table(table)
        assert isinstance(stream, Stream)
        time = Attribute(renaming[assertion.stream_alias], stream.timestamp)
    used = dict.fromkeys((*term_columns(assertion.subject), *term_columns(assertion.object)))
    return Instance(
        tuple(Occurrence(renaming[t.alias], t.table) for t in assertion.source.tables),
        (
            *(condition(c) for c in assertion.source.conditions),
            *(NotNull(column(c), assertion.place) for c in used),
        ),
        term(assertion.subject),
        None if assertion.object is None else term(assertion.object),
        time,
        Provenance(
            assertion.id,
            assertion.place,
            tuple(b.text for b in assertion.because),
            tuple(b.source for b in assertion.because if b.source is not None),
            others=assertion.others,
        ),
    )


def assertion_query(assertion: MappingAssertion, catalog: Catalog) -> SpjQuery:
    """The triples of an assertion as an SPJ query."""
    made = instantiate_assertion(assertion, 1, catalog)
    outputs: tuple[tuple[str, Output], ...] = (("s", made.subject),)
    if made.object is not None:
        outputs = (*outputs, ("o", made.object))
    return SpjQuery(made.occurrences, made.conditions, outputs)
