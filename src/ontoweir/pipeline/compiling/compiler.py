"""What compiles queries of an open project: its `Workspace`."""

from collections.abc import Callable
from typing import Protocol

from ontoweir.mappings.model.assertion import MappingSet
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.ontology.tbox import TBox
from ontoweir.pipeline.compiled_query import CompiledQuery
from ontoweir.progress.progress import OnProgress
from ontoweir.project.project import Project
from ontoweir.rewriter.model.query import ConjunctiveQuery
from ontoweir.rewriter.tmappings.share_tmappings import TMappings


class Compiler(Protocol):
    """An open project, as `Workspace` describes it."""

    @property
    def project(self) -> Project:
        """What is declared."""

    @property
    def tbox(self) -> TBox:
        """Its ontology."""

    @property
    def mappings(self) -> MappingSet:
        """Its mappings, with the facts of its ontology."""

    def map_over(self, catalog: Catalog) -> MappingSet:
        """The same, read over a catalog: types of columns and steps of time are in them."""

    @property
    def tmappings(self) -> TMappings:
        """The same with the hierarchy compiled in."""

    @property
    def partial(self) -> bool:
        """Triples maps that are wrong are left to the queries that they concern."""

    @property
    def skip(self) -> frozenset[str]:
        """Passes to leave out."""

    @property
    def skip_refused(self) -> bool:
        """Queries are compiled without triples maps that are wrong."""

    @property
    def warn_counts(self) -> bool:
        """Counts that are not those of rows are warned of."""

    @property
    def on_warning(self) -> Callable[[str], None]:
        """Called with every warning."""

    @property
    def on_progress(self) -> OnProgress:
        """Called while rewriting."""

    def compile_branches(
        self,
        branches: tuple[ConjunctiveQuery, ...],
        *,
        catalog: Catalog | None = None,
        quiet: bool = False,
    ) -> CompiledQuery:
        """Rewrite and unfold the branches of a query."""
