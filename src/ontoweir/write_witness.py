"""Write a witness as data that `ontoweir replay` can run (theory §9)."""

import shlex
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.checker.verdict import Verdict
from ontoweir.checker.witness import Witness, WitnessRow
from ontoweir.errors import UsageError
from ontoweir.mappings.catalog import Catalog, DecimalType, Stream
from ontoweir.pipeline import CompiledQuery, Workspace
from ontoweir.runtime.check_domain import arrow_type

SCRIPT = "replay.sh"


def write_witnesses(
    workspace: Workspace,
    compiled: Sequence[CompiledQuery],
    verdicts: Sequence[Verdict],
    folder: Path,
    *,
    size: int,
) -> list[str]:
    """Write a witness of each unbounded query to a folder of its name; what was done, in lines.

    Args:
        workspace: the project.
        compiled: its queries.
        verdicts: on them.
        folder: where to write; made if it does not exist.
        size: how many optional tuples.

    Raises:
        UsageError: the folder cannot be written.
    """
    told = []
    for query, verdict in zip(compiled, verdicts, strict=True):
        if verdict.witness is None:
            continue
        name = query.name
        if query.union.aggregation is not None:
            told.append(
                f"{name}: no witness written; an aggregate query without a plan cannot be "
                "replayed; replay the query without aggregates, and aggregate the results"
            )
            continue
        witness = verdict.witness
        if witness.size != size:
            found = workspace.find_witness(query, size)
            if found is None:
                told.append(f"{name}: no witness with {size} tuples is confirmed")
            else:
                witness = found
        script = write_witness(
            witness,
            name,
            workspace.project.catalog,
            folder / name,
            project=workspace.project.file,
        )
        told.append(f"{name}: {witness.size} tuples to remember; run sh {script}")
    return told


def write_witness(
    witness: Witness, query: str, catalog: Catalog, folder: Path, *, project: Path
) -> Path:
    """Write the data of a witness, one history for every suffix.

    `folder/suffix-i/` holds the tables with all optional tuples, then suffix i; `folder/replay.sh`
    has the commands that run the query on each. Any algorithm has to tell all subsets of the
    optional tuples apart by these suffixes, so it has to remember every one of them.

    Args:
        witness: of the query.
        query: its name.
        catalog: the tables.
        folder: where to write; made if it does not exist.
        project: the project's folder or file, for the commands.

    Returns:
        the script.

    Raises:
        UsageError: the folder cannot be written.
    """
    prefix = [*witness.fixed, *witness.optional]
    told = (
        f"# {witness.size} optional tuples; every suffix gives an answer that one of them explains."
    )
    lines = ["#!/bin/sh", told, "set -e", 'here=$(cd "$(dirname "$0")" && pwd)']
    try:
        for number, suffix in enumerate(witness.suffixes, 1):
            name = f"suffix-{number}"
            (folder / name).mkdir(parents=True, exist_ok=True)
            tables = _write_tables([*prefix, *suffix], catalog, folder / name)
            lines.append(_command(query, tables, name, project, catalog))
        script = folder / SCRIPT
        script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot write the witness to {folder}: {error.strerror or error}",
            why="its data is one small file for each table and suffix",
            fix="name a folder that can be written to",
        ) from error
    return script


def _write_tables(rows: Sequence[WitnessRow], catalog: Catalog, folder: Path) -> list[str]:
    """Every table that has rows, in order of time; their names."""
    names = sorted({row.table for row in rows})
    for name in names:
        table = catalog.table(name)
        mine = [row for row in rows if row.table == name]
        columns: dict[str, pa.Array] = {}
        if isinstance(table, Stream):
            mine.sort(key=lambda row: row.step or 0)
            micros = [(row.step or 0) * table.step_us for row in mine]
            columns[table.timestamp] = pa.array(micros, pa.int64()).cast(pa.timestamp("us"))
        for column in table.columns:
            values = [dict(row.values)[column.name] for row in mine]
            kind = arrow_type(column.type)
            if isinstance(column.type, DecimalType):
                values = [None if v is None else Decimal(v) for v in values]
            columns[column.name] = _array(values, kind)
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    return names


def _array(values: list[Any], kind: "pa.DataType") -> "pa.Array":
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return pa.array([str(v) for v in values]).cast(kind)
    return pa.array(values, kind)


def _command(
    query: str, tables: Sequence[str], folder: str, project: Path, catalog: Catalog
) -> str:
    parts = [
        f"ontoweir replay {shlex.quote(str(project))} --query {shlex.quote(query)}",
        f'--allow-unbounded --output "$here/{folder}/answers.csv"',
    ]
    for name in tables:
        section = "streams" if name in catalog.streams else "relations"
        source = f"{{ format = 'parquet', path = '$here/{folder}/{name}.parquet' }}"
        parts.append(f'--set "{section}.{name}.source={source}"')
    return " \\\n  ".join(parts)
