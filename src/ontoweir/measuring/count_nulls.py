"""Count the NULLs of a static relation."""

import tempfile
from pathlib import Path

from ontoweir.mappings.model.catalog import Relation


def count_nulls(relation: Relation, catalog_file: str) -> tuple[int, dict[str, int]]:
    """How many rows a relation has, and by column in how many it is NULL: of local files that are
    read here; of others, and of views, nothing is said.

    Args:
        relation: as it is declared.
        catalog_file: where.

    Raises:
        DataError: there is no file, or one lacks a column or cannot be read.
    """
    import pyarrow.compute as pc

    from ontoweir.runtime.sources.read_source import BAD
    from ontoweir.runtime.violations.find_static_violations import read_static

    with tempfile.TemporaryDirectory(prefix="ontoweir-nulls-") as folder:
        held = read_static(relation, catalog_file, Path(folder))
        if held is None:
            return 0, {}
        rows = held.table.filter(pc.is_null(held.table.column(BAD)))  # else NULL is a wrong value
        nulls = {c.name: rows.column(c.name).null_count for c in relation.columns}
        return rows.num_rows, nulls
