"""What compiles as another does, but for what it says of its own."""

from collections.abc import Callable
from dataclasses import dataclass

from ontoweir.mappings.model.assertion import MappingSet
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.ontology.tbox import TBox
from ontoweir.pipeline.compiling.compiler import Compiler
from ontoweir.progress.progress import OnProgress
from ontoweir.project.project import Project
from ontoweir.rewriter.tmappings.share_tmappings import TMappings


@dataclass(frozen=True)
class CompilerAround:
    """All that a compiler knows, of the one that is around it (`whole`)."""

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

    def map_over(self, catalog: Catalog) -> MappingSet:
        return self.whole.map_over(catalog)

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
