"""Which rows of a stream an IRI names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ontoweir.mappings.model.assertion import (
    MappingAssertion,
    SourceColumn,
    SourceCompare,
    SourceConstant,
    SourceOneOf,
)
from ontoweir.mappings.model.catalog import Scalar


@dataclass(frozen=True, slots=True)
class StreamPart:
    """The rows of a stream, of which `column` has a `value` (None: all rows)."""

    stream: str
    column: str | None = None
    value: Scalar | None = None


def admit_parts(
    assertions: Sequence[MappingAssertion], parts: Sequence[StreamPart]
) -> tuple[MappingAssertion, ...]:
    """The assertions of rows of these parts, and of no others."""
    made = []
    for assertion in assertions:
        alias = assertion.stream_alias
        tables = {t.alias: t.table for t in assertion.source.tables}
        mine = [p for p in parts if alias is not None and p.stream == tables[alias]]
        if alias is None or not mine:
            continue
        values: dict[str, list[Scalar]] = {}
        for part in mine:
            if part.column is not None and part.value is not None:
                values.setdefault(part.column, []).append(part.value)
        if any(part.column is None for part in mine):
            values = {}
        for name, given in values.items():
            column, several = SourceColumn(alias, name), tuple(dict.fromkeys(given))
            condition = (
                SourceCompare(column, "=", SourceConstant(several[0]))
                if len(several) == 1
                else SourceOneOf(column, several)
            )
            source = assertion.source
            source = replace(source, conditions=(*source.conditions, condition))
            assertion = replace(assertion, source=source)
        made.append(assertion)
    return tuple(made)
