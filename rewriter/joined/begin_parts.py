"""Whether parts of a query begin with its first row, and of which streams that is."""

from collections.abc import Collection, Sequence

from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.differences.since_first import FIRST, FIRST_TIME
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.views.list_streams import list_read


def begin_parts(unions: Sequence[SpjUnion], catalog: Catalog) -> tuple[str, ...] | None:
    """The streams of a query from whose first timestamp on there is what always holds, where a part
    of it begins later, as it knows its own alone (None: all begin as they should).

    Args:
        unions: the parts.
        catalog: the tables; where it knows such streams, the parts were read with them.
    """
    if catalog.begins:
        return None
    streams = tuple(dict.fromkeys(s for union in unions for s in list_read(union, catalog)))
    later = any(_begins_later(union, streams, catalog) for union in unions)
    return streams if later else None


def _begins_later(union: SpjUnion, streams: Collection[str], catalog: Catalog) -> bool:
    """Whether what always holds of a part does from the first row of some of the streams on, and
    not of any."""
    for block in union.blocks:
        first = block.stream.name.startswith((FIRST, FIRST_TIME))
        if first and not {*streams} <= {*list_read(block.union, catalog)}:
            return True
    parts = () if union.joined is None else union.joined.parts
    return any(_begins_later(part.query, streams, catalog) for part in parts)
