"""Refuses a project without queries."""

from ontoweir.errors import CatalogError
from ontoweir.project.project import Project


def require_queries(project: Project) -> None:
    """Raise CatalogError for a project without queries."""
    if not project.queries:
        raise CatalogError(
            "the project has no queries",
            why="queries in [project] names no file",
            fix='write queries = ["queries/*.rq"] and put a query there',
            source=project.queries_source,
        )
