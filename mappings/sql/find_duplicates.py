"""Why a mapping's SQL, read without its DISTINCT and UNION, could make a row more than once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from ontoweir.mappings.model.assertion import (
    CompareOp,
    SourceColumn,
    SourceCompare,
    SourceCondition,
    SourceConstant,
    SourceNotNull,
    SourceOneOf,
)
from ontoweir.mappings.model.catalog import Catalog, Scalar
from ontoweir.mappings.sql.read_expression import SourceText

if TYPE_CHECKING:
    from ontoweir.mappings.sql.read_select import MappingValue, SelectShape, SelectUnion


_Limit: TypeAlias = tuple[CompareOp, Scalar]

Duplicates: TypeAlias = str | frozenset[SourceColumn]
"""Why rows may repeat; or that they do not, as long as these columns are not NULL."""


def find_duplicates(
    union: SelectUnion, names: Sequence[str], catalog: Catalog
) -> tuple[Duplicates, ...]:
    """For each SELECT whether DISTINCT and UNION drop no row of it: its columns determine a row of
    each of its tables, by declared keys, and no other SELECT makes the same row.

    Args:
        union: the SQL.
        names: its columns.
        catalog: the declared keys. A stream's hold within one timestamp, as its triples do, and a
            key with a NULL in it may repeat.
    """
    duplicates: list[Duplicates] = [frozenset()] * len(union.selects)
    for group in union.deduplicated:
        for i in group:
            needed = _determine(union.selects[i], catalog)
            before = duplicates[i]
            if isinstance(before, frozenset):
                duplicates[i] = before | needed if isinstance(needed, frozenset) else needed
        for i, j in combinations(group, 2):
            if not _are_disjoint(union.selects[i], union.selects[j], len(names)):
                duplicates[i] = duplicates[j] = "two of its SELECTs may make the same row"
    return tuple(duplicates)


def _determine(shape: SelectShape, catalog: Catalog) -> Duplicates:
    """The projected columns that determine the row of every table, in all alternatives."""
    needed: set[SourceColumn] = set()
    every = [set(conditions) for conditions in shape.alternatives]
    always = set.intersection(*every) if every else set()
    for conditions in shape.alternatives:
        given = {v for _, v in shape.values if isinstance(v, SourceColumn)}
        for _, value in shape.values:
            if isinstance(value, SourceText):  # 'x' || id determines id
                columns = [p for p in value.parts if isinstance(p, SourceColumn)]
                given |= set(columns) if len(columns) == 1 else set()
        equal = [c for c in conditions if isinstance(c, SourceCompare) and c.op == "="]
        known, left = set(given), {t.alias: t.table for t in shape.tables}
        size = -1
        while size != len(known):
            size = len(known)
            for c in equal:
                if isinstance(c.right, SourceConstant):
                    if c in always:  # else rows of two alternatives may be the same
                        known.add(c.left)
                elif c.left in known or c.right in known:
                    known |= {c.left, c.right}
            for alias, name in list(left.items()):
                table = catalog.table(name)
                for key in ([SourceColumn(alias, k) for k in key] for key in table.keys):
                    if known.issuperset(key) and alias in left:
                        needed |= given.intersection(key)
                        known |= {SourceColumn(alias, c.name) for c in table.columns}
                        del left[alias]
        if left:
            return f"its columns hold no declared key of {next(iter(left.values()))}"
        compared = {c.left for c in conditions if isinstance(c, SourceCompare)}
        compared |= {c.column for c in conditions if isinstance(c, SourceNotNull | SourceOneOf)}
        compared |= {c.right for c in equal if isinstance(c.right, SourceColumn)}
        needed -= compared if len(shape.alternatives) == 1 else set()
    return frozenset(needed)


def _are_disjoint(one: SelectShape, other: SelectShape, width: int) -> bool:
    """Whether some output column never has the same value in both."""
    return all(
        any(
            _differ(one.values[i][1], a, other.values[i][1], b)
            for i in range(min(width, len(one.values), len(other.values)))
        )
        for a in one.alternatives
        for b in other.alternatives
    )


def _differ(
    left: MappingValue,
    conditions: Sequence[SourceCondition],
    right: MappingValue,
    others: Sequence[SourceCondition],
) -> bool:
    a, b = _bounds(left, conditions), _bounds(right, others)
    return any(all(_exclude(x, y) for x in some for y in more) for some in a for more in b)


def _bounds(value: MappingValue, conditions: Sequence[SourceCondition]) -> list[list[_Limit]]:
    """What limits a value: each is a list of comparisons of which one holds."""
    if isinstance(value, SourceText):
        return []
    if not isinstance(value, SourceColumn):
        return [[("=", value)]]
    limits: list[list[_Limit]] = []
    for c in conditions:
        match c:
            case SourceCompare(left=left, op=op, right=SourceConstant(value=constant), offset=0):
                if left == value:
                    limits.append([(op, constant)])
            case SourceOneOf(column=column, values=values) if column == value:
                limits.append([("=", v) for v in values])
            case _:
                pass
    return limits


def _exclude(left: _Limit, right: _Limit) -> bool:
    """Whether no value satisfies both comparisons: x < 3 and x >= 3."""
    (op, a), (mate, b) = left, right
    if isinstance(a, str) != isinstance(b, str) or isinstance(a, bool) != isinstance(b, bool):
        return False
    if {op, mate} == {"=", "<>"}:
        return a == b
    if op == "=" and mate == "=":
        return a != b
    if isinstance(a, str) or isinstance(b, str):
        return False  # collations are the database's
    if op in ("<", "<=", "=") and mate in (">", ">=", "="):
        return a < b or (a == b and (op == "<" or mate == ">"))
    if op in (">", ">=", "=") and mate in ("<", "<=", "="):
        return b < a or (a == b and (op == ">" or mate == "<"))
    return False
