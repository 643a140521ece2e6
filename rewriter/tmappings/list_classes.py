"""The classes that something may be in: those of which mappings and facts make members."""

from ontoweir.mappings.model.assertion import MappingSet
from ontoweir.ontology.tbox import THING
from ontoweir.rewriter.tmappings.share_tmappings import TMappings


def list_classes(
    mappings: MappingSet, shared: TMappings, graphs: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The named classes that have members, by the mappings and by the hierarchy of the ontology.

    SPARQL 1.1 Entailment Regimes, section 6: a variable in the place of a class is any class of the
    vocabulary whose membership is entailed. owl:Thing is among them only where a mapping makes its
    members: that all are in it says nothing of any.

    Args:
        mappings: those of the project, of which `shared` are the T-mappings.
        graphs: what FROM names.

    Raises:
        MappingError: a triples map is refused, which may make members of any class.
    """
    mappings.require_all()
    selected = shared.select(mappings, graphs)
    mapped = selected.classes()
    names = {c for c in shared.tbox.classes | mapped if c != THING.iri or c in mapped}
    compiled = selected if selected.compiled else shared.compile(selected, graphs, names)
    return tuple(sorted(c for c in names if compiled.classes_of(c)))
