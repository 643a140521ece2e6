"""T-mappings that queries share: those of a predicate are compiled once."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ontoweir.mappings.expressions.derive_column import add_derived
from ontoweir.mappings.model.assertion import MappingAssertion, MappingSet, RefusedMap
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.hierarchy import Hierarchy
from ontoweir.rewriter.tmappings.compile_tmappings import compile_tmappings
from ontoweir.rewriter.tmappings.known_sets import KnownSets
from ontoweir.rewriter.tmappings.select_graphs import select_graphs

_Graphs = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Compiled:
    """The assertions of a predicate, and the refused triples maps that could be about it."""

    assertions: tuple[MappingAssertion, ...]
    refused: tuple[RefusedMap, ...]


@dataclass(frozen=True, slots=True)
class TMappings:
    """The T-mappings of `mappings` under `tbox` over `catalog`, of each predicate compiled when it
    is first asked for. Errors are not kept.

    They depend on all three, and on nothing else but the graphs that are asked for: a catalog that
    declares other keys or references has other T-mappings (`are_of`).
    """

    mappings: MappingSet
    tbox: Hierarchy
    catalog: Catalog
    whole: Catalog = field(init=False, repr=False, compare=False)
    """The catalog with the columns that the mappings' SQL computes."""
    _selected: dict[_Graphs, tuple[MappingAssertion, ...]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    _compiled: dict[tuple[_Graphs, str], _Compiled] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    described: dict[tuple[_Graphs, str, bool], str] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    """What a trace says of them: of a property, or (True) of a class."""

    times: dict[_Graphs, object] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    """What is known of the times of nodes (rewriter.dated), of the graphs that are asked for."""

    sets: KnownSets = field(init=False, repr=False, compare=False, default_factory=KnownSets)
    """What is known of their triples as sets."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole", add_derived(self.catalog, self.mappings.derived))

    def are_of(self, mappings: MappingSet, tbox: Hierarchy, catalog: Catalog) -> bool:
        """Whether they are made of these very objects; who is told of refusals may differ."""
        return (
            self.mappings.assertions is mappings.assertions
            and self.mappings.refused is mappings.refused
            and self.mappings.compiled is mappings.compiled
            and self.tbox is tbox
            and self.catalog is catalog
        )

    def select(self, mappings: MappingSet, graphs: _Graphs) -> MappingSet:
        """`mappings`, of which these are, of the graphs that are asked for (select_graphs).

        Raises:
            MappingError, QueryError: as select_graphs.
        """
        found = self._selected.get(graphs)
        if found is None:
            found = self._selected[graphs] = select_graphs(mappings, graphs, self.whole).assertions
        return mappings if found is mappings.assertions else replace(mappings, assertions=found)

    def compile(
        self, selected: MappingSet, graphs: _Graphs, predicates: Iterable[str]
    ) -> MappingSet:
        """The T-mappings of predicates (compile_tmappings), from what was selected of `graphs`.

        Raises:
            MappingError: a triples map is refused that could be about one of them, as
                `selected.on_refused` has it.
        """
        made: list[MappingAssertion] = []
        for iri in dict.fromkeys(sorted(predicates)):
            known = self._compiled.get((graphs, iri))
            if known is None:
                known = self._compiled[graphs, iri] = self._compile(selected, iri)
            else:
                for refused in known.refused:
                    selected.on_refused(refused)
            made.extend(known.assertions)
        return MappingSet(tuple(made), compiled=True)

    def _compile(self, selected: MappingSet, iri: str) -> _Compiled:
        refused: list[RefusedMap] = []

        def note(one: RefusedMap) -> None:
            selected.on_refused(one)  # which may raise: then nothing is kept
            refused.append(one)

        heard = replace(selected, on_refused=note) if selected.refused else selected
        compiled = compile_tmappings(heard, self.tbox, self.whole, predicates=[iri])
        return _Compiled(compiled.assertions, tuple(refused))
