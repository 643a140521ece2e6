"""Recall and keep what is known of static relations whose files were held to their declarations."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from ontoweir.checker.model.normal_form import ColumnStatistics, Statistics
from ontoweir.mappings.model.catalog import Scalar
from ontoweir.runtime.verified.verification import Verification

_WHAT = "statistics"
"""How entries of the cache are called."""
_DECIMAL = "decimal"


def recall_statistics(verification: Verification, names: Iterable[str]) -> Statistics:
    """Of those relations that were verified, rows and columns: their rows need no check.

    Args:
        verification: where it is kept.
        names: the relations wanted.
    """
    rows: dict[str, int] = {}
    columns: dict[tuple[str, str], ColumnStatistics] = {}
    for name in names:
        if name not in verification.relations or verification.again:
            continue
        held = verification.cache.read(_WHAT, verification.relations[name], _decode)
        if held is not None:
            rows[name] = held[0]
            columns.update({(name, column): known for column, known in held[1].items()})
    return Statistics(rows, columns)


def keep_statistics(verification: Verification, known: Statistics, names: Iterable[str]) -> None:
    """Keep what was found of relations all of whose declared columns were read and held to what is
    declared of them. That their files are as they were is seen when it is recalled.

    Args:
        verification: where, and how the files were before.
        known: of the relations, with all columns.
        names: those relations.
    """
    for name in names:
        if name in verification.relations:
            columns = {
                column: [held.distinct, _encode(held.minimum), _encode(held.maximum)]
                for (table, column), held in known.columns.items()
                if table == name
            }
            content = {"rows": known.rows[name], "columns": columns}
            verification.cache.write(_WHAT, verification.relations[name], content)


def _encode(value: Scalar | None) -> Any:
    return {_DECIMAL: str(value)} if isinstance(value, Decimal) else value


def _scalar(held: Any) -> Scalar | None:
    value: Scalar | None = Decimal(held[_DECIMAL]) if isinstance(held, dict) else held
    return value


def _decode(held: Any) -> tuple[int, dict[str, ColumnStatistics]]:
    columns = {
        str(column): ColumnStatistics(int(distinct), _scalar(low), _scalar(high))
        for column, (distinct, low, high) in held["columns"].items()
    }
    return int(held["rows"]), columns
