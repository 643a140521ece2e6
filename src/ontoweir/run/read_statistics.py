"""What the static data of a project says, for verdicts that are asked to use it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ontoweir.checker.model.normal_form import Statistics
from ontoweir.pipeline.pipeline import CompiledQuery, Workspace
from ontoweir.run.prepare_jobs import fill_views, load_relations

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def read_statistics(
    workspace: Workspace,
    compiled: Sequence[CompiledQuery],
    spark: "SparkSession | None" = None,
) -> Statistics:
    """Sizes and extremes of the static relations that queries use; Spark reads them.

    Raises:
        DataError: static data is missing, or breaks what the catalog declares.
        RunError: Spark does not start.
    """
    from ontoweir.runtime.spark.start_session import start_session
    from ontoweir.runtime.statics.gather_statistics import gather_statistics

    tables = load_relations(workspace, compiled, spark or start_session())
    filled = dict(tables)
    for query in compiled:
        filled |= fill_views(query, workspace.project.catalog, tables)
    return gather_statistics(filled)
