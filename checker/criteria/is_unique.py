"""Whether a result determines the rows that it is made of, so that none can come twice."""

from collections.abc import Callable

from ontoweir.checker.model.declarations import Declaration, key_declaration, list_stream_keys
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.algebra.equality_classes import EqualityClasses, optional_attributes
from ontoweir.rewriter.model.spj import (
    Attribute,
    ConstantOutput,
    LiteralOutput,
    NullOutput,
    SpjQuery,
)


def is_unique(query: SpjQuery, catalog: Catalog, use: Callable[[Declaration], bool]) -> bool:
    """Whether the outputs hold, up to equalities, a key of every occurrence: then SELECT DISTINCT
    asks for nothing that SELECT does not give, and no result has to be remembered.

    A key of a stream counts if it does not hold the timestamp, or if the timestamp is determined
    by another row. (Of a template with several columns nothing is read off: texts may coincide.)

    Args:
        query: a disjunct, the only one of its query.
        catalog: the keys.
        use: which declared constraints may be used.
    """
    classes = EqualityClasses(query.occurrences, query.conditions)
    known = {classes.find(a) for a in classes.constants}
    optional = optional_attributes(query)  # several rows of a key may have NULL
    for _, output in query.outputs:
        match output:
            case LiteralOutput(value=attribute) if attribute in optional:
                continue
            case LiteralOutput(value=attribute):
                known.add(classes.find(attribute))
            case ConstantOutput() | NullOutput():
                continue
            case _:
                parts = [p for p in output.parts if isinstance(p, Attribute)]
                if len(parts) == 1:
                    known.add(classes.find(parts[0]))
    waiting = list(query.occurrences)
    while waiting:
        for occurrence in waiting:
            stream = catalog.streams.get(occurrence.table)
            whole = () if stream is None else list_stream_keys(stream)
            keys = [
                key
                for key in catalog.table(occurrence.table).keys
                if key not in whole or (stream is not None and use(key_declaration(stream, key)))
            ]
            if any(
                key and all(classes.find(Attribute(occurrence.alias, c)) in known for c in key)
                for key in keys
            ):
                break
        else:
            return False
        waiting.remove(occurrence)
        names = [c.name for c in catalog.table(occurrence.table).columns]
        names += [] if stream is None else [stream.timestamp]
        known |= {classes.find(Attribute(occurrence.alias, name)) for name in names}
    return True
