"""Hold the tables of an open project to what is declared of them."""

from typing import TYPE_CHECKING

from ontoweir.pipeline.pipeline import Workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ontoweir.runtime.violations.violation import TableViolations


def check_tables(
    workspace: Workspace, spark: "SparkSession | None", sample: int | None
) -> "tuple[TableViolations, ...]":
    """What is wrong in each table.

    Args:
        workspace: the project.
        spark: the session (None: one is started where a source needs it).
        sample: of each stream only so many rows, the first (None: all).

    Raises:
        DataError: data is missing, or cannot be read.
    """
    from ontoweir.run.check_data import DataCheck

    def session() -> "SparkSession":
        from ontoweir.runtime.spark.start_session import start_session

        return spark or start_session()

    catalog = workspace.project.catalog
    check = DataCheck(catalog, session, sample)
    return tuple(check.find({*catalog.streams, *catalog.relations}))
