"""What windows of SQL and SPARQL share."""

from ontoweir.errors import QueryError, Source

ENDS = "window ends "
"""The variables that say when a row leaves its window begin so."""

INSTANT_US = 1
"""How much longer a window is that includes its end: times are whole microseconds."""

DELAY_WHY = "a row is shown from its own time on"
DELAY_FIX = "leave it out: an answer says when it holds, by `at` and `until`"


def refuse_delay(what: str, source: Source | None) -> QueryError:
    """A condition that would show rows some time after their own."""
    return QueryError(what, why=DELAY_WHY, fix=DELAY_FIX, source=source)
