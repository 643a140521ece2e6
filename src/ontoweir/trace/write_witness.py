"""Write a witness as data that `ontoweir replay` can run (theory §9)."""

import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ontoweir.checker.verdict.verdict import Verdict
from ontoweir.checker.witness.witness import Witness, WitnessRow
from ontoweir.errors import Source, UsageError
from ontoweir.files.write_folder import write_folder
from ontoweir.mappings.model.catalog import Catalog, DecimalType, Stream
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.project.write_tables import list_related, write_tables
from ontoweir.rewriter.model.add_views import tables_of
from ontoweir.rewriter.model.share_steps import share_steps
from ontoweir.runtime.columnar.check_domain import arrow_type

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
    report = []
    for query, verdict in zip(compiled, verdicts, strict=True):
        if verdict.witness is None:
            continue
        name = query.name
        witness = verdict.witness
        if witness.size != size:
            larger = workspace.find_witness(query, size)
            if larger is None:
                report.append(f"{name}: no witness with {size} tuples is confirmed")
            else:
                witness = larger
        script = write_witness(workspace, query, witness, folder / name)
        report.append(f"{name}: {witness.size} tuples to remember; run sh {script}")
    return report


def write_witness(
    workspace: Workspace, query: CompiledQuery, witness: Witness, folder: Path
) -> Path:
    """Write the data of a witness, one history for every suffix.

    `folder/suffix-i/` holds the tables with all optional tuples, then suffix i; `folder/replay.sh`
    has the commands that run the query on each. Any algorithm has to tell all subsets of the
    optional tuples apart by these suffixes, so it has to remember every one of them.

    A query of the project is replayed in the project, its tables exchanged. Plain SQL comes with
    a project of its own: `folder/ontoweir.toml`, and the SQL.

    Args:
        workspace: the project.
        query: one of its queries, or SQL over its tables.
        witness: of the query.
        folder: where to write; made if it does not exist.

    Returns:
        the script.

    Raises:
        UsageError: the folder cannot be written.
    """
    _check_place(folder)
    union = query.union
    catalog = share_steps(workspace.project.catalog, union.step_us)
    prefix = [*witness.fixed, *witness.optional]
    used = tables_of(union)
    rows = (row for suffix in witness.suffixes for row in (*prefix, *suffix))
    tables = list_related(catalog, used | {row.table for row in rows})
    report = (
        f"# {witness.size} optional tuples; every suffix gives an answer that one of them explains."
    )
    beside = shlex.quote(str(Path(sys.executable).parent))
    lines = ["#!/bin/sh", report, "set -e", 'here=$(cd "$(dirname "$0")" && pwd)']
    lines.append(f"command -v ontoweir >/dev/null || PATH={beside}:$PATH  # as it is called now")
    called = f"{shlex.quote(str(workspace.project.file))} --query {shlex.quote(query.name)}"
    try:
        with write_folder(folder.absolute()) as made:
            if not query.branches:
                assert union.source is not None
                sql = f"{query.name}.sql"
                called = f'"$here" --sql "$here"/{shlex.quote(sql)}'
                (made / sql).write_text(Path(union.source.file).read_text("utf-8"), "utf-8")
                (made / "ontoweir.toml").write_text(_project(tables, catalog), "utf-8")
            for number, suffix in enumerate(witness.suffixes, 1):
                name = f"suffix-{number}"
                (made / name).mkdir()
                _write_tables([*prefix, *suffix], tables, catalog, made / name)
                lines.append(_command(called, tables, name, catalog))
            (made / SCRIPT).write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"cannot write the witness to {folder}: {error.strerror or error}",
            why="its data is one small file for each table and suffix",
            fix="name a folder that can be written to",
        ) from error
    return folder / SCRIPT


def _check_place(folder: Path) -> None:
    """Raise UsageError where something else than a witness is in the folder."""
    with suppress(OSError):
        if any(folder.iterdir()) and not (folder / SCRIPT).is_file():
            raise UsageError(
                f"{folder} holds something else than a witness",
                why=f"a witness takes the place of one that was written before, with its {SCRIPT}",
                fix="name another folder, or empty it",
                source=Source("--witness"),
            )


def _project(tables: Sequence[str], catalog: Catalog) -> str:
    """A project of these tables, with all that is declared of them: the witness keeps it."""
    head = "# The tables of the SQL in this folder, over the data of suffix-1.\n[project]\n"
    return head + write_tables(catalog, {name: f"suffix-1/{name}.parquet" for name in tables})


def _write_tables(
    rows: Sequence[WitnessRow], names: Sequence[str], catalog: Catalog, folder: Path
) -> None:
    for name, table in make_tables(rows, names, catalog).items():
        pq.write_table(table, folder / f"{name}.parquet")


def make_tables(
    rows: Sequence[WitnessRow], names: Sequence[str], catalog: Catalog
) -> dict[str, pa.Table]:
    """The tables, in order of time; those without rows are empty."""
    made = {}
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
        made[name] = pa.table(columns)
    return made


def _array(values: list[Any], kind: "pa.DataType") -> "pa.Array":
    if pa.types.is_date(kind):
        return pa.array(values, pa.string()).cast(kind)
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.string()).cast(pa.timestamp("us")).cast(kind)
    return pa.array(values, kind)


def _command(called: str, tables: Sequence[str], folder: str, catalog: Catalog) -> str:
    parts = [
        f"ontoweir replay {called}",
        f'--allow-unbounded --output "$here/{folder}/answers.csv"',
    ]
    for name in tables:
        source = f"{{ format = 'parquet', path = '$here/{folder}/{name}.parquet' }}"
        section = "streams" if name in catalog.streams else "relations"
        parts.append(f'--set "{section}.{name}.source={source}"')
    return " \\\n  ".join(parts)
