"""What a SELECT shows, and what it computes, by its tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

from ontoweir.rewriter.clauses.list_items import close_of
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken


@dataclass(frozen=True, slots=True)
class Head:
    """`place`: of SELECT; `names`: of what is shown (["*"]: all); `computes`: some of it is more
    than a variable."""

    place: int
    names: tuple[str, ...]
    distinct: bool
    computes: bool

    @property
    def is_all(self) -> bool:
        """Whether it is SELECT *."""
        return self.names == ("*",)


def read_select(tokens: Sequence[SparqlToken], start: int, opens: int) -> Head | None:
    """The head of the SELECT whose patterns a brace opens (None: it is something else, as ASK, or
    has FROM).

    Args:
        tokens: of the text.
        start: where to look from.
        opens: the place of the brace.
    """
    places = [n for n in range(start, opens) if tokens[n].text.upper() == "SELECT"]
    if not places:
        return None
    n = places[-1] + 1
    distinct = tokens[n].text.upper() == "DISTINCT"
    n += distinct
    end = opens - (tokens[opens - 1].text.upper() == "WHERE")
    if [t.text for t in tokens[n:end]] == ["*"]:
        return Head(places[-1], ("*",), distinct, computes=False)
    names: list[str] = []
    computes = False
    while n < end:
        token = tokens[n]
        if token.kind == "var":
            names.append(token.text[1:])
            n += 1
            continue
        close = close_of(tokens, n) if token.text == "(" else end
        if close >= end or tokens[close - 2].text.upper() != "AS":
            return None
        names.append(tokens[close - 1].text[1:])
        computes = True
        n = close + 1
    return Head(places[-1], tuple(names), distinct, computes) if names else None
