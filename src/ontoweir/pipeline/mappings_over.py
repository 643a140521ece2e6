"""The mappings of a project over catalogs that declare its tables otherwise."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ontoweir.mappings.model.assertion import MappingSet
from ontoweir.mappings.model.catalog import Catalog, ColumnType

if TYPE_CHECKING:
    from ontoweir.pipeline.compiling.compiler import Compiler

KEPT = 8
"""Over so many catalogs."""


@dataclass(slots=True)
class MappingsOver:
    """They are read once for each catalog: all parts of a query are compiled over one whose streams
    share the steps of time."""

    _known: list[tuple[Catalog, MappingSet]] = field(default_factory=list)

    def map(self, workspace: "Compiler", catalog: Catalog) -> MappingSet:
        """The mappings of a project, and the facts of its ontology, read over a catalog.

        Args:
            workspace: the project.
            catalog: its tables, declared otherwise, or as they are.
        """
        known = workspace.project.catalog
        if catalog is known or _list_types(catalog) == _list_types(known):
            return workspace.mappings
        plain = replace(catalog, begins=())  # of a query, whatever the mappings are
        for other, mappings in self._known:
            if other == plain:
                return mappings
        from ontoweir.mappings.compile.assert_facts import assert_facts
        from ontoweir.mappings.compile.load_mappings import load_mappings  # brings the parsers

        read = load_mappings(workspace.project.mappings, plain, partial=workspace.partial)
        found = assert_facts(read, workspace.tbox.facts)
        del self._known[: max(0, len(self._known) + 1 - KEPT)]
        self._known.append((plain, found))
        return found


def _list_types(catalog: Catalog) -> list[tuple[str, int, list[tuple[str, ColumnType]]]]:
    """The streams, their steps, and the types of their columns: what mappings depend on."""
    return [
        (s.name, s.step_us, [(c.name, c.type) for c in s.columns]) for s in catalog.streams.values()
    ]
