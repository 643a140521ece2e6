"""The patterns of a SPARQL text that are of nodes with their time in their names."""

from collections.abc import Callable
from dataclasses import replace

from ontoweir.errors import MappingError, QueryError
from ontoweir.mappings.model.assertion import MappingSet
from ontoweir.rewriter.dated.date_nodes import DatedText, date_nodes
from ontoweir.rewriter.dated.node_times import KnownTimes, NodeTimes, StreamKey
from ontoweir.rewriter.model.share_steps import UnitsDiffer
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.tmappings.name_classes import list_graphs
from ontoweir.rewriter.tmappings.share_tmappings import TMappings
from ontoweir.rewriter.views.hold_once import hold_once


def find_dated(text: str, mappings: MappingSet, shared: TMappings) -> DatedText | None:
    """The query with these patterns in GRAPH (date_nodes).

    Args:
        text: SPARQL.
        mappings: those of the project, of which `shared` are the T-mappings.

    Returns:
        None: it has none, or its graphs are windows, or a triples map is refused, so that it is not
        known what is said of a node.
    """
    if _is_narrow(mappings):
        return None
    graphs = list_graphs(text)
    selected = shared.select(mappings, graphs)

    def compile_one(iri: str) -> MappingSet:
        return selected if selected.compiled else shared.compile(selected, graphs, (iri,))

    known = shared.times.setdefault(graphs, KnownTimes())
    assert isinstance(known, KnownTimes)
    times = NodeTimes(selected, compile_one, shared.whole, shared.tbox, known)
    try:
        return date_nodes(text, times)
    except MappingError:
        return None


def find_again(text: str, mappings: MappingSet, shared: TMappings) -> Callable[[str, bool], bool]:
    """Whether a triple of a property, or (True) of a class, that a stream makes may come again at
    another time (hold_once). Of windows, and where a triples map is refused, none is said to."""
    graphs = list_graphs(text)

    def comes_again(iri: str, is_class: bool) -> bool:
        if _is_narrow(mappings):
            return False
        selected = shared.select(mappings, graphs)
        compiled = selected if selected.compiled else shared.compile(selected, graphs, (iri,))
        made = compiled.classes_of(iri) if is_class else compiled.properties_of(iri)
        flowing = [a for a in made if a.stream_alias is not None]
        try:
            hold_once(flowing, shared.whole, None)
        except QueryError as error:
            return not isinstance(error, UnitsDiffer)
        return False

    return comes_again


def rest_on(union: SpjUnion, keys: tuple[StreamKey, ...]) -> SpjUnion:
    """A query that is what it is by keys of whole streams, too."""
    if not keys:
        return union
    disjuncts = tuple(
        replace(q, merged=tuple(dict.fromkeys((*q.merged, *keys)))) for q in union.disjuncts
    )
    return replace(union, disjuncts=disjuncts)


def _is_narrow(mappings: MappingSet) -> bool:
    """Whether patterns do not see all that is said, or it is not known what is."""
    return mappings.windowed or bool(mappings.refused) or mappings.admit is not None
