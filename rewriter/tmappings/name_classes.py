"""Variables in the place of classes: `?x a ?c` with VALUES of all classes that ?c may be."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_PATHS = ("^", "/", "|", "!")


@dataclass(frozen=True, slots=True)
class NamedClasses:
    """A query whose class variables have values; `put`: line, column and length of what was put
    into its lines, in order."""

    text: str
    put: tuple[tuple[int, int, int], ...]

    def place_back(self, place: Source | None) -> Source | None:
        """A place in the text as one of the text as it was given."""
        if place is None or place.column is None:
            return place
        here = [(c, size) for line, c, size in self.put if line == place.line]
        inside = any(c <= place.column < c + size for c, size in here)
        moved = sum(size for c, size in here if c < place.column)
        if inside or place.end_column is None:
            return Source(place.file, place.line)
        return Source(place.file, place.line, place.column - moved, place.end_column - moved)


class _Group(NamedTuple):
    """The variables of a group that stand for classes, and the token that closes it."""

    variables: dict[str, SparqlToken]
    end: int


def name_classes(
    text: str, file: str, list_classes: Callable[[tuple[str, ...]], Sequence[str]]
) -> NamedClasses | None:
    """A query of SPARQL in which each variable that stands for a class, in its group, is one of
    those that have members, so that each pattern has the matches that it had (None: it has no such
    variable). Matches count as often as before: no class is listed twice.

    Args:
        text: SPARQL; of CONSTRUCT the SELECT that it stands for.
        file: for messages.
        list_classes: the classes that have members in the graphs after FROM.

    Raises:
        QueryError: no class has members.
    """
    tokens = Tokens(text).tokens
    prefixes = _read_prefixes(tokens)
    groups = _find_groups(tokens, prefixes)
    if not groups:
        return None
    classes = list_classes(list_graphs(text))
    values = " ".join(f"<{c}>" for c in classes)
    made, last, put = "", 0, list[tuple[int, int, int]]()
    for group in sorted(groups, key=lambda g: tokens[g.end].offset):
        end = tokens[group.end]
        if not classes:
            token = next(iter(group.variables.values()))
            raise QueryError(
                f"{token.text} as a class",
                why="no mapping makes members of any class",
                fix="give a subject map a class (rr:class), or leave the pattern out",
                source=Source(file, token.line),
            )
        more = " ".join(f"VALUES ?{name} {{ {values} }}" for name in group.variables) + " "
        made += text[last : end.offset]
        column = len(made) - (made.rfind("\n") + 1) + 1
        put.append((end.line, column, len(more)))
        made, last = made + more, end.offset
    return NamedClasses(made + text[last:], tuple(put))


def is_type(token: SparqlToken, prefixes: dict[str, str]) -> bool:
    """Whether a token is rdf:type, or the word that stands for it."""
    if token.kind == "pname":
        prefix, _, name = token.text.partition(":")
        return prefixes.get(prefix, "") + name == _TYPE
    return token.text == (f"<{_TYPE}>" if token.kind == "iri" else "a")


def _find_groups(tokens: Sequence[SparqlToken], prefixes: dict[str, str]) -> list[_Group]:
    """The groups with variables in the place of classes."""
    made: list[_Group] = []
    opened: list[dict[str, SparqlToken]] = []
    for n, token in enumerate(tokens):
        if token.text == "{":
            opened.append({})
        elif token.text == "}" and opened:
            if variables := opened.pop():
                made.append(_Group(variables, n))
        elif opened and is_type(token, prefixes) and not (n and tokens[n - 1].text in _PATHS):
            at = n + 1
            while at < len(tokens) and tokens[at].kind in ("var", "iri", "pname"):
                if tokens[at].kind == "var":
                    opened[-1].setdefault(tokens[at].text[1:], tokens[at])
                if at + 1 == len(tokens) or tokens[at + 1].text != ",":
                    break
                at += 2
    return made


def _read_prefixes(tokens: Sequence[SparqlToken]) -> dict[str, str]:
    return {
        p.text.removesuffix(":"): i.text[1:-1]
        for w, p, i in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if w.text.upper() == "PREFIX" and p.kind == "pname" and i.kind == "iri"
    }


def list_graphs(text: str) -> tuple[str, ...]:
    """The graphs that FROM names in a query of SPARQL."""
    tokens = Tokens(text).tokens
    prefixes = _read_prefixes(tokens)
    made: list[str] = []
    for word, token in pairwise(tokens):
        if word.kind == "word" and word.text.upper() == "FROM":
            prefix, _, name = token.text.partition(":")
            if token.kind == "iri":
                made.append(token.text[1:-1])
            elif token.kind == "pname":
                made.append(prefixes.get(prefix, "") + name)
    return tuple(dict.fromkeys(made))
