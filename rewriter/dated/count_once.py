"""Triples outside GRAPH that may come again, as the set that they are."""

from collections.abc import Callable, Sequence
from itertools import count

from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import ItemKind, is_select, list_items
from ontoweir.rewriter.dated.read_triples import Triple, read_sentences, write_instead
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken


def count_once(text: str, comes_again: Callable[[str, bool], bool]) -> str | None:
    """`{ SELECT DISTINCT ?x { ?x a :C } }` for `?x a :C` outside GRAPH, on its lines: the triples
    of a class or property are a set, of which each counts once, whenever it comes again. So are
    those of a variable in the place of a class. (None: it asks for none of them beside others.)

    Args:
        text: a query of SPARQL.
        comes_again: whether a triple of a property, or (True) of a class, may come again.
    """
    edit = Edit(text)
    tokens, changed = edit.tokens, False
    taken = {t.text for t in tokens if t.kind == "var"}
    names = (name for n in count() if (name := f"?node{n or ''}") not in taken)
    inside = {
        n
        for opens, token in enumerate(tokens)
        if token.text == "{" and not is_select(tokens, opens)
        for item in list_items(tokens, opens)
        if item.kind is ItemKind.GRAPH
        for n in item.places
    }
    for opens, token in enumerate(tokens):
        if token.text != "{" or opens in inside or is_select(tokens, opens):
            continue
        triples = (i for i in list_items(tokens, opens) if i.kind is ItemKind.TRIPLES)
        for item in () if _is_set(tokens, opens) else triples:
            for sentence in read_sentences(tokens, item.places, lambda: next(names)):
                asked = [_is_asked(t, comes_again) for t in sentence.triples]
                if not any(asked):
                    continue
                said = [
                    _write_set(t) if again else f"{t.subject} {t.verb} {t.object} ."
                    for t, again in zip(sentence.triples, asked, strict=True)
                ]
                write_instead(edit, sentence, said)
                changed = True
    return edit.finish() if changed else None


def _is_asked(triple: Triple, comes_again: Callable[[str, bool], bool]) -> bool:
    """Whether a triple may come again: of a variable in the place of a class."""
    if triple.iri is None:
        return triple.is_class
    return comes_again(triple.iri, triple.is_class)


def _write_set(triple: Triple) -> str:
    terms = dict.fromkeys((triple.subject, triple.object))
    shown = [t for t in terms if t.startswith(("?", "$"))]
    said = f"{triple.subject} {triple.verb} {triple.object}"
    if not shown or any(t.startswith("_:") for t in terms):
        return f"{said} ."
    return f"{{ SELECT DISTINCT {' '.join(shown)} {{ {said} }} }}"


def _is_set(tokens: Sequence[SparqlToken], opens: int) -> bool:
    """Whether a brace opens the patterns of a SELECT DISTINCT."""
    for n in range(opens - 1, 0, -1):
        if tokens[n].text in ("{", "}"):
            return False
        if tokens[n].text.upper() == "SELECT":
            return tokens[n + 1].text.upper() == "DISTINCT"
    return False
