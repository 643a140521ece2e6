"""The sides of a UNION of solutions that come and go by themselves, as texts of each."""

from dataclasses import replace

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import ItemKind, close_of, is_select, list_items
from ontoweir.rewriter.composed.list_visible import list_given
from ontoweir.rewriter.composed.read_select import read_select
from ontoweir.rewriter.composed.split_joined import JoinedText, PartOfText
from ontoweir.rewriter.composed.text_part import is_static
from ontoweir.rewriter.model.joined import JoinKind
from ontoweir.rewriter.syntax.locate_tokens import Tokens


def split_union(text: str) -> JoinedText | None:
    """`SELECT ?a ?b { { … } UNION { … } }`, where each side binds some of what is shown (None: it
    is something else).

    Args:
        text: a query.
    """
    tokens = Tokens(text).tokens
    opens = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if opens is None or is_select(tokens, opens):
        return None
    closes, items = close_of(tokens, opens), list_items(tokens, opens)
    head = read_select(tokens, 0, opens)
    union = items[0] if len(items) == 1 and items[0].kind is ItemKind.GROUP else None
    if head is None or head.computes or union is None or len(union.braces) < 2:
        return None
    if closes + 1 < len(tokens):
        return None
    sides = [
        list_given(tokens, [replace(union, braces=(brace,))], optional=True)
        for brace in union.braces
    ]
    names = tuple(sorted(set().union(*sides))) if head.is_all else head.names
    shown = [tuple(v for v in names if v in side) for side in sides]
    if not all(shown) or not {*names} <= set().union(*sides):
        return None
    parts = []
    for number, (first, last) in enumerate(union.braces):
        edit = Edit(text)
        edit.blank(head.place + 1, opens - 1)
        edit.after(head.place, " " + " ".join(f"?{v}" for v in shown[number]) + " ")
        for n in range(opens + 1, closes):
            plain = n in (first, last) and not is_select(tokens, first)
            if plain or not first <= n <= last:
                edit.blank(n, n)
        kind = JoinKind.UNION if number else JoinKind.INNER
        static = not is_select(tokens, first) and is_static(list_items(tokens, first))
        parts.append(PartOfText(edit.finish(), shown[number], kind, (), static=static))
    return JoinedText(tuple(parts), names, head.distinct, None, frozenset(), unites=True)
