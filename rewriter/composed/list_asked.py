"""Of which variables an ASK may count the solutions."""

from ontoweir.rewriter.clauses.list_items import list_items
from ontoweir.rewriter.composed.list_visible import list_given
from ontoweir.rewriter.syntax.locate_tokens import Tokens


def list_asked(text: str) -> tuple[str, ...]:
    """Nothing at all (""), and variables that have a value in every solution, in the order of
    their names; of another query than ASK none.

    Args:
        text: the query.
    """
    tokens = Tokens(text).tokens
    start = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    words = [t.text.upper() for t in tokens[:start] if t.kind == "word"]
    if start is None or "ASK" not in words:
        return ()
    return ("", *sorted(list_given(tokens, list_items(tokens, start))))
