"""Whether answers of a query are read as they are by another one."""

from collections.abc import Iterable

from ontoweir.mappings.model.catalog import Meeting
from ontoweir.mappings.model.preceding import Preceding
from ontoweir.rewriter.model.spj import View


def reads_directly(
    name: str, meetings: Iterable[Meeting | Preceding | None], views: Iterable[View]
) -> bool:
    """Whether rows that are made of answers are only members of a query's plans, which count each
    as often as it counts: not made into rows of a view, nor rows that meet others, one by one.

    Args:
        name: of the stream of these rows.
        meetings: of the blocks of the query that reads it.
        views: that query's.
    """
    for meeting in meetings:
        match meeting:
            case Meeting(base=base, versions=versions):
                if name in (base, versions.stream):
                    return False
            case Preceding(base=base):
                if base == name:
                    return False
            case None:
                pass
    return not any(name in view.tables for view in views)
