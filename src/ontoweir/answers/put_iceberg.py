"""Put a Parquet file of answers into an Iceberg table, in one transaction."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ontoweir.errors import OntoweirError, RunError, Source, UsageError
from ontoweir.runtime.times.give_zone import give_zone

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table, Transaction

_BATCH = "ontoweir.batch"
"""The property that a table of a live run has."""


@contextmanager
def putting_iceberg(name: str, catalog: str | None) -> Iterator[str]:
    """A Parquet file that is to be written, whose rows are then all that a table has: it is made,
    or its rows are replaced, in one transaction.

    Args:
        name: NAMESPACE.NAME; the namespace is there.
        catalog: as pyiceberg's configuration calls it (None: its default).

    Raises:
        UsageError: it is no such name, or the table of a live run, or has other columns; or
            pyiceberg is not installed.
        RunError: the catalog cannot be reached, or the table not written; it is as it was before.
    """
    if find_spec("pyiceberg") is None:
        raise UsageError(
            "answers in an Iceberg table need pyiceberg, which is not installed",
            why="it is optional for ontoweir",
            fix="pip install 'ontoweir[iceberg]', or pip install pyiceberg",
            source=Source("--format"),
        )
    if "." not in name or not all(name.split(".")) or "/" in name:
        raise UsageError(
            f"{name!r} is no name of an Iceberg table",
            why="a catalog knows tables as NAMESPACE.NAME",
            fix="write e.g. --output answers.hot, and the catalog as --catalog",
            source=Source("--output"),
        )
    from pyiceberg.catalog import load_catalog

    try:
        known = load_catalog(catalog)
        known.list_tables(name.rpartition(".")[0])  # there is such a namespace
        table = known.load_table(name) if known.table_exists(name) else None
    except Exception as error:  # whatever its catalog's own client raises
        raise _failed(name, error) from error
    if table is not None and _BATCH in table.properties:
        raise UsageError(
            f"cannot write the Iceberg table {name}",
            why="a live run writes into it",
            fix="name another one",
            source=Source("--output"),
        )
    with tempfile.TemporaryDirectory(prefix="ontoweir-table-") as folder:
        file = Path(folder, "answers.parquet")
        yield str(file)
        try:
            _put(file, name, known, table)
        except OntoweirError:
            raise
        except Exception as error:  # likewise
            raise _failed(name, error) from error


def _put(file: Path, name: str, catalog: "Catalog", table: "Table | None") -> None:
    import pyarrow.parquet as pq
    from pyiceberg.expressions import AlwaysTrue

    with pq.ParquetFile(file) as answers:
        schema = give_zone(answers.schema_arrow.empty_table()).schema
        if table is not None and table.schema().as_arrow().names != schema.names:
            held = ", ".join(table.schema().as_arrow().names)
            raise UsageError(
                f"the Iceberg table {name} has other columns: {held}",
                why=f"these answers have {', '.join(schema.names)}",
                fix="name another table, or drop this one",
                source=Source("--output"),
            )
        if table is None:
            begun: Transaction = catalog.create_table_transaction(name, schema)
        else:
            begun = table.transaction()
        with begun as transaction:
            if table is not None and table.current_snapshot() is not None:
                transaction.delete(AlwaysTrue())
            for group in range(answers.num_row_groups):
                transaction.append(give_zone(answers.read_row_group(group)))


def _failed(name: str, error: Exception) -> RunError:
    said = next((x.strip() for x in str(error).splitlines() if x.strip()), "it fails")[:300]
    return RunError(
        f"the Iceberg table {name} cannot be written: {said}",
        why="a table that was there before is as it was",
        fix="check the catalog, as pyiceberg is configured (.pyiceberg.yaml, or variables "
        "PYICEBERG_CATALOG__NAME__URI), and its namespace",
        source=Source("--output"),
    )
