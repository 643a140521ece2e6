"""Compile a query that is named as in the project, or given as text."""

from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.pipeline.compiling.compile_sql import compile_sql
from ontoweir.pipeline.compiling.compile_text import compile_text
from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.language_of import language_of_text


def compile_typed(workspace: Workspace, query: str) -> CompiledQuery:
    """The query of that name, or of that text: SPARQL, or SQL over the catalog.

    Raises:
        OntoweirError: there is none, or it, the ontology or the mappings are wrong.
    """
    match language_of_text(query):
        case None:
            return workspace.compile(query)
        case "sparql":
            return compile_text(workspace, query, "query", "<query>")
        case "sql":
            catalog = workspace.project.catalog
            union = compile_sql(query, catalog, name="query", file="<query>")
            return CompiledQuery("query", (), (), union)


def read_typed(query: str) -> str | None:
    """The text, where it is one and no name."""
    return None if language_of_text(query) is None else query
