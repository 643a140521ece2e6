"""Compile a query again, changed, or over other declarations."""

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.pipeline.compiling.compile_sql import compile_sql
from ontoweir.pipeline.compiling.compile_text import compile_text
from ontoweir.pipeline.compiling.compiler import Compiler
from ontoweir.rewriter.model.spj import SpjUnion


def recompile_query(
    workspace: Compiler, compiled: CompiledQuery, text: str, before: str, catalog: Catalog
) -> SpjUnion:
    """A query compiled again with another text than before, or over a catalog declared
    otherwise.

    Raises:
        OntoweirError: it is not a query any more.
    """
    assert compiled.union.source is not None
    file = compiled.union.source.file
    if not compiled.branches:
        return compile_sql(text, catalog, name=compiled.name, file=file)
    windows = (
        compiled.union.told is not None
    )  # its branches alone do not say which stream each sees
    if text == before and not compiled.union.blocks and not windows:
        return workspace.compile_branches(compiled.branches, catalog=catalog, quiet=True).union
    whole = text or compiled.text or ""
    return compile_text(workspace, whole, compiled.name, file, catalog=catalog).union
