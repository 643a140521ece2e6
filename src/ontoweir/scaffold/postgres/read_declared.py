"""The keys, references and domains that a server of PostgreSQL declares of tables."""

import logging
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ontoweir.mappings.model.catalog import Column, Reference, StringType
from ontoweir.scaffold.ddl.read_constraints import Constraints, read_domains

if TYPE_CHECKING:
    from ontoweir.runtime.database.read_postgres import Server

TableId: TypeAlias = int
_COLUMNS = """
SELECT a.attrelid, a.attnum, a.attname, format_type(t.oid, NULL), a.attnotnull,
    ARRAY(SELECT enumlabel::text FROM pg_enum e WHERE e.enumtypid = t.oid ORDER BY enumsortorder),
    ARRAY(SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k
        WHERE k.contypid = a.atttypid AND k.contype = 'c' ORDER BY k.oid)
FROM pg_attribute a JOIN pg_type d ON d.oid = a.atttypid
    JOIN pg_type t ON t.oid = CASE d.typtype WHEN 'd' THEN d.typbasetype ELSE d.oid END
WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid = ANY(%s)
ORDER BY a.attrelid, a.attnum
"""
"""Columns: their types (of a domain what it is made of), their labels where they are an enum, and
the conditions of a domain."""
_CONSTRAINTS = """
SELECT conrelid, contype::text, conkey, confrelid, confkey, pg_get_constraintdef(oid)
FROM pg_constraint WHERE conrelid = ANY(%s) AND convalidated
    AND contype IN ('p', 'u', 'f', 'c') AND conparentid = 0
ORDER BY conrelid, contype <> 'p', oid
"""
_INDEXES = """
SELECT indrelid, indkey::int2[] FROM pg_index
WHERE indrelid = ANY(%s) AND indisunique AND indisvalid AND indpred IS NULL AND indexprs IS NULL
    AND indnkeyatts = indnatts
ORDER BY indrelid, NOT indisprimary, indexrelid
"""


def read_declared(server: "Server", names: Mapping[TableId, str]) -> dict[str, Constraints]:
    """What is declared of each table, by its name; conditions that are not understood say nothing.

    Args:
        server: the connection.
        names: of tables that have been copied, by their numbers.
    """
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # of what is passed over
    wanted = [list(names)]
    columns: dict[TableId, dict[int, tuple[Any, ...]]] = {oid: {} for oid in names}
    for oid, number, *column in server.execute(_COLUMNS, wanted).fetchall():
        columns[oid][number] = tuple(column)
    rows: dict[TableId, list[tuple[Any, ...]]] = {oid: [] for oid in names}
    for oid, *constraint in server.execute(_CONSTRAINTS, wanted).fetchall():
        rows[oid].append(tuple(constraint))
    keys: dict[TableId, list[tuple[str, ...]]] = {oid: [] for oid in names}
    for oid, numbers in server.execute(_INDEXES, wanted).fetchall():
        keys[oid].append(_pick(columns[oid], numbers))
    return {
        name: Constraints(
            tuple(dict.fromkeys(keys[oid])),
            tuple(_list_references(oid, rows[oid], columns, names)),
            _list_domains(columns[oid].values(), [r[-1] for r in rows[oid] if r[0] == "c"]),
            frozenset(str(column[0]) for column in columns[oid].values() if column[2]),
        )
        for oid, name in names.items()
    }


def _pick(columns: Mapping[int, tuple[Any, ...]], numbers: Sequence[int]) -> tuple[str, ...]:
    return tuple(str(columns[number][0]) for number in numbers)


def _list_references(
    table: TableId,
    rows: Sequence[tuple[Any, ...]],
    columns: Mapping[TableId, Mapping[int, tuple[Any, ...]]],
    names: Mapping[TableId, str],
) -> list[Reference]:
    """Those to tables that have been copied too."""
    return [
        Reference(_pick(columns[table], own), names[to], _pick(columns[to], there))
        for kind, own, to, there, _ in rows
        if kind == "f" and to in names
    ]


def _list_domains(columns: Any, conditions: Sequence[str]) -> tuple[Column, ...]:
    """What columns' types and conditions say of their values."""
    parts, listed = [], []
    for name, kind, _, labels, checks in columns:
        quoted = '"' + str(name).replace('"', '""') + '"'
        if labels:
            listed.append(Column(name, StringType(), enum=tuple(labels)))
        else:
            parts.append(f"{quoted} {kind}")
        parts += [_replace_value(check, quoted) for check in checks]
    text = f"CREATE TABLE t ({', '.join([*parts, *conditions])})"
    found = read_domains(text, "postgres")
    return (*listed, *(c for c in found if c.name not in [one.name for one in listed]))


def _replace_value(check: str, column: str) -> str:
    """A condition of a domain's, of a column."""
    return re.sub(r"\bVALUE\b", column, check)
