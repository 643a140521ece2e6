"""A project whose solutions are found with all that its ontology says is there."""

from dataclasses import dataclass

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.pipeline.compiling.compile_branches import compile_branches
from ontoweir.pipeline.compiling.compiler_around import CompilerAround
from ontoweir.rewriter.model.query import ConjunctiveQuery


@dataclass(frozen=True)
class CertainCompiler(CompilerAround):
    """A project of which SELECT finds what SELECT DISTINCT does, each solution as often as it is
    found: for what is a part of SELECT DISTINCT."""

    def compile_branches(
        self,
        branches: tuple[ConjunctiveQuery, ...],
        *,
        catalog: Catalog | None = None,
        quiet: bool = False,
    ) -> CompiledQuery:
        return compile_branches(self, branches, catalog=catalog, quiet=quiet, certain=True)
