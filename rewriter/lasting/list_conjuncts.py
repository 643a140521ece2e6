"""What && joins in a FILTER of SPARQL."""

from collections.abc import Sequence

from ontoweir.rewriter.clauses.list_items import Item
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken


def list_conjuncts(tokens: Sequence[SparqlToken], item: Item) -> list[range]:
    """The places of what && joins in a FILTER with parentheses; all of it, where || does.

    Args:
        tokens: of the text.
        item: the FILTER.
    """
    first = next(n for n in item.places if tokens[n].text == "(") + 1
    made, start, depth = list[range](), first, 0
    for n in range(first, item.last):
        depth += {"(": 1, ")": -1}.get(tokens[n].text, 0)
        if depth == 0 and tokens[n].text == "||":
            return [range(first, item.last)]
        if depth == 0 and tokens[n].text == "&&":
            made.append(range(start, n))
            start = n + 1
    return [*made, range(start, item.last)]
