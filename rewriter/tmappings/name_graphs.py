"""Names the graphs in which a class or property is mapped."""

from ontoweir.mappings.model.assertion import (
    ColumnMap,
    ConstantMap,
    MappingSet,
    SourceColumn,
    TemplateMap,
    TermMap,
)
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.mappings.r2rml.r2rml_document import DEFAULT_GRAPH
from ontoweir.rewriter.model.hierarchy import Hierarchy
from ontoweir.rewriter.tmappings.compile_tmappings import compile_tmappings


def name_graphs(
    iri: str, mappings: MappingSet, tbox: Hierarchy, catalog: Catalog
) -> tuple[str, ...]:
    """The graphs with triples of `iri` or of what is below it, as FROM names them: IRIs, and
    templates with their columns in braces."""
    made = compile_tmappings(MappingSet(mappings.assertions), tbox, catalog, predicates=[iri])
    mapped = (
        name
        for a in made.assertions
        for name in (tuple(_name(g) for g in a.graphs) or (DEFAULT_GRAPH,))
    )
    return tuple(dict.fromkeys(mapped))


def _name(term: TermMap) -> str:
    match term:
        case ConstantMap(value=value):
            return value
        case TemplateMap(parts=parts):
            return "".join(f"{{{p.column}}}" if isinstance(p, SourceColumn) else p for p in parts)
        case ColumnMap(column=column):
            return f"{{{column.column}}}"
