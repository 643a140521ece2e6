"""VALUES behind a query, as one of its patterns."""

from dataclasses import replace

from ontoweir.errors import QueryError
from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import close_of
from ontoweir.rewriter.sparql.parse_query import parse_query
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_GROUPS = frozenset({"GROUP", "HAVING", "COUNT", "SUM", "MIN", "MAX", "AVG", "MEDIAN", "SAMPLE"})
_GROUPS |= {"GROUP_CONCAT", "OW:QUANTILE", "OW:PERCENTILE", "OW:APPROXQUANTILE"}
"""Words of a query that groups."""


def move_values(text: str, file: str) -> str:
    """The text with VALUES, which is behind its outermost group, at the end of this: it is joined
    likewise (SPARQL 1.1, 18.2.4.3), with groups where these are made by its variables.

    Args:
        text: a query.
        file: where it is.

    Raises:
        QueryError: it is joined with groups, and not as it would be before these are made.
    """
    tokens = Tokens(text).tokens
    start = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    end = len(tokens) if start is None else close_of(tokens, start)
    first = next((n for n in range(end, len(tokens)) if tokens[n].text.upper() == "VALUES"), None)
    if start is None or first is None:
        return text
    values = f" {' '.join(t.text for t in tokens[first:])} "  # without comments
    words = [t.text.upper() for t in (*tokens[:start], *tokens[end:first])]
    if _GROUPS & {*words}:
        _check(text, tokens[:start], tokens[end:first], values, file)
    edit = Edit(text)
    edit.before(end, values)
    edit.blank(first, len(tokens) - 1)
    return edit.finish()


def _check(
    text: str,
    head: tuple[SparqlToken, ...],
    tail: tuple[SparqlToken, ...],
    values: str,
    file: str,
) -> None:
    """Raise QueryError for what parse_query refuses of VALUES behind groups."""
    keys, depth = list[str](), 0
    for token in tail:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0 and token.text.upper() in ("HAVING", "ORDER", "LIMIT"):
            break
        keys += [token.text] if depth == 0 and token.kind == "var" else []
    select = next((t for t in head if t.text.upper() == "SELECT"), None)
    if select is None:
        return
    asked = keys or ["?none"]
    triples = " ".join(f"{key} <urn:ontoweir:any> {key} ." for key in asked)
    group = f"GROUP BY {' '.join(keys)}" if keys else ""
    shown = f"{' '.join(keys)} (COUNT(*) AS ?all)"
    small = f"{text[: select.offset]}SELECT {shown} {{ {triples} }} {group} {values}"
    try:
        parse_query(small, name="values", file=file)
    except QueryError as error:
        line = tail[-1].line if tail else select.line
        source = None if error.source is None else replace(error.source, line=line)
        raise QueryError(error.what, why=error.why, fix=error.fix, source=source) from error
