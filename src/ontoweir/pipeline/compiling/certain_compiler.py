"""A project whose solutions are found with all that its ontology says is there."""

from collections.abc import Callable
from dataclasses import dataclass

from ontoweir.mappings.model.assertion import MappingSet
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.ontology.tbox import TBox
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.pipeline.compiling.compile_branches import compile_branches
from ontoweir.pipeline.compiling.compiler import Compiler
from ontoweir.progress.progress import OnProgress
from ontoweir.project.project import Project
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.tmappings.share_tmappings import TMappings


@dataclass(frozen=True)
class CertainCompiler:
    """A project of which SELECT finds what SELECT DISTINCT does, each solution as often as it is
    found: for what is a part of SELECT DISTINCT."""

    whole: Compiler

    @property
    def project(self) -> Project:
        return self.whole.project

    @property
    def tbox(self) -> TBox:
        return self.whole.tbox

    @property
    def mappings(self) -> MappingSet:
        return self.whole.mappings

    @property
    def tmappings(self) -> TMappings:
        return self.whole.tmappings

    @property
    def partial(self) -> bool:
        return self.whole.partial

    @property
    def skip(self) -> frozenset[str]:
        return self.whole.skip

    @property
    def skip_refused(self) -> bool:
        return self.whole.skip_refused

    @property
    def warn_counts(self) -> bool:
        return self.whole.warn_counts

    @property
    def on_warning(self) -> Callable[[str], None]:
        return self.whole.on_warning

    @property
    def on_progress(self) -> OnProgress:
        return self.whole.on_progress

    def compile_branches(
        self,
        branches: tuple[ConjunctiveQuery, ...],
        *,
        catalog: Catalog | None = None,
        quiet: bool = False,
    ) -> CompiledQuery:
        return compile_branches(self, branches, catalog=catalog, quiet=quiet, certain=True)
