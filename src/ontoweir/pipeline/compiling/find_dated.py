"""The patterns of a SPARQL text that are of nodes with their time in their names."""

from dataclasses import replace

from ontoweir.errors import MappingError
from ontoweir.mappings.model.assertion import MappingSet
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.pipeline.compiling.compiler import Compiler
from ontoweir.rewriter.dated.date_nodes import DatedText, date_nodes
from ontoweir.rewriter.dated.node_times import NodeTimes, StreamKey
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.tmappings.name_classes import list_graphs


def find_dated(workspace: Compiler, text: str, catalog: Catalog | None) -> DatedText | None:
    """The query with these patterns in GRAPH (date_nodes); None: it has none, or its graphs are
    windows, or a triples map is refused, so that it is not known what is said of a node."""
    mappings, shared = workspace.mappings, workspace.tmappings
    if mappings.windowed or mappings.refused:
        return None
    graphs = list_graphs(text)
    selected = shared.select(mappings, graphs)

    def compile_one(iri: str) -> MappingSet:
        return selected if selected.compiled else shared.compile(selected, graphs, (iri,))

    try:
        return date_nodes(text, NodeTimes(selected, compile_one, shared.whole, shared.tbox))
    except MappingError:
        return None


def rest_on(union: SpjUnion, keys: tuple[StreamKey, ...]) -> SpjUnion:
    """A query that is what it is by keys of whole streams, too."""
    if not keys:
        return union
    disjuncts = tuple(
        replace(q, merged=tuple(dict.fromkeys((*q.merged, *keys)))) for q in union.disjuncts
    )
    return replace(union, disjuncts=disjuncts)
