"""Declared column domains as filters: what SQL elsewhere needs to give the answers given here.

Ingestion rejects a tuple of a stream whose column is outside its declared domain, before any query
sees it (docs/semantics.md). An engine that reads the same tables does not, so printed SQL says it.
In the union that is decided the domains stay in the catalog: there a verdict names those that it
rests on, which filters would hide.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import assert_never

from ontoweir.mappings.expressions.derive_column import read_columns
from ontoweir.mappings.model.catalog import Catalog, Scalar
from ontoweir.mappings.model.show_values import show_values
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Constant,
    IsNull,
    NotNull,
    OneOf,
    Op,
    SpjQuery,
    output_attributes,
)


@dataclass(frozen=True, slots=True)
class DomainFilter:
    """`attribute` is at least `minimum`, at most `maximum`, one of `enum`, where given."""

    attribute: Attribute
    minimum: Scalar | None = None
    maximum: Scalar | None = None
    enum: tuple[Scalar, ...] | None = None
    nullable: bool = False
    """NULL passes too: nothing in the query says that there is a value."""

    def __str__(self) -> str:
        if self.enum is not None:
            return f"{self.attribute} in {show_values(self.enum)}"
        if self.minimum is None:
            return f"{self.attribute} <= {self.maximum}"
        if self.maximum is None:
            return f"{self.attribute} >= {self.minimum}"
        return f"{self.minimum} <= {self.attribute} <= {self.maximum}"


def list_domains(query: SpjQuery, catalog: Catalog) -> tuple[DomainFilter, ...]:
    """The declared domains of the streams' columns that a disjunct uses, as far as its own
    comparisons with constants do not imply them."""
    used: dict[Attribute, None] = {}
    fixed: dict[Attribute, list[tuple[Op, Scalar]]] = {}
    for c in query.conditions:
        match c:
            case NotNull(attribute=attribute) | OneOf(attribute=attribute):
                used[attribute] = None
            case IsNull():
                pass  # NULL lies in every domain
            case Compare(left=left, op=op, right=right):
                used[left] = None
                if isinstance(right, Attribute):
                    used[right] = None
                elif isinstance(right, Constant):
                    fixed.setdefault(left, []).append((op, right.value))
            case _:
                assert_never(c)
    valued = set(used)
    for _, output in query.outputs:
        used.update(dict.fromkeys(output_attributes(output)))
    tables = {o.alias: o.table for o in query.occurrences}
    for attribute in list(used):
        # in an order of their own: the text of a query is part of a checkpoint's fingerprint
        read = read_columns(catalog.table(tables[attribute.alias]), [attribute.column])
        for name in sorted(read):
            used.setdefault(Attribute(attribute.alias, name))
    domains = []
    for attribute in used:
        stream = catalog.streams.get(tables[attribute.alias])
        column = None if stream is None else stream.column(attribute.column)
        if column is None or column.expression is not None:
            continue
        known = fixed.get(attribute, [])
        made = DomainFilter(
            attribute,
            None if _above(column.minimum, known) else column.minimum,
            None if _below(column.maximum, known) else column.maximum,
            None if any(op is Op.EQ for op, _ in known) else column.enum,
            attribute not in valued,
        )
        if (made.minimum, made.maximum, made.enum) != (None, None, None):
            domains.append(made)
    return tuple(domains)


def _above(minimum: Scalar | None, known: list[tuple[Op, Scalar]]) -> bool:
    """Whether comparisons with constants imply `>= minimum`."""
    return minimum is not None and any(
        op in (Op.GT, Op.GE, Op.EQ) and not _less(value, minimum) for op, value in known
    )


def _below(maximum: Scalar | None, known: list[tuple[Op, Scalar]]) -> bool:
    """Whether comparisons with constants imply `<= maximum`."""
    return maximum is not None and any(
        op in (Op.LT, Op.LE, Op.EQ) and not _less(maximum, value) for op, value in known
    )


def _less(left: Scalar, right: Scalar) -> bool:
    if isinstance(left, str) or isinstance(right, str):
        return str(left) < str(right)  # dates and times in ISO 8601
    return Decimal(str(left)) < Decimal(str(right))
