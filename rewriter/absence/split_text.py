"""A SPARQL text with NOT EXISTS, EXISTS, MINUS and OPTIONAL as texts without them.

They have the lines of the text, so that places in them are places in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

MAX_OPTIONAL = 4
"""A query may have so many OPTIONAL patterns: each is there, or not, in every combination."""


class _Kind(StrEnum):
    ABSENT = "NOT EXISTS"
    PRESENT = "EXISTS"
    MINUS = "MINUS"
    OPTIONAL = "OPTIONAL"


@dataclass(frozen=True, slots=True)
class PartText:
    """A query of the `keys` of solutions beside which a pattern matches; it must (`present`), or
    must not."""

    text: str
    keys: tuple[str, ...]
    present: bool


@dataclass(frozen=True, slots=True)
class SolutionTexts:
    """A query of solutions, of variables that answers show, parts depend on, and `times`; and of
    these solutions the parts. `missing`: the answer variables without a value."""

    text: str
    times: tuple[str, ...]
    parts: tuple[PartText, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SplitText:
    """A query: its answer variables, whether it is DISTINCT, and what its answers are together."""

    head: tuple[str, ...]
    distinct: bool
    alternatives: tuple[SolutionTexts, ...]
    source: Source


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause of the outermost group: the places of its first token, its braces and the ends."""

    kind: _Kind
    first: int
    opens: int
    closes: int


def split_text(text: str, file: str) -> SplitText | None:
    """The queries that a query is made of (None: it has none of these clauses in its outermost
    group).

    Raises:
        QueryError: they are beside what they are not read with.
    """
    tokens = Tokens(text).tokens
    start = next((n for n, t in enumerate(tokens) if t.text == "{"), None)
    if start is None:
        return None
    clauses = _find_clauses(tokens, start)
    if not clauses:
        return None
    return _Splitter(text, file, tokens, start, clauses).split()


def _find_clauses(tokens: Sequence[SparqlToken], start: int) -> list[_Clause]:
    clauses: list[_Clause] = []
    depth, n = 0, start
    while n < len(tokens):
        word = tokens[n].text.upper() if tokens[n].kind in ("word", "op") else ""
        depth += {"{": 1, "}": -1}.get(word, 0)
        if depth == 0:
            break
        found = _read_clause(tokens, n) if depth == 1 else None
        if found is not None:
            clauses.append(found)
            n = found.closes
        n += 1
    return clauses


def _read_clause(tokens: Sequence[SparqlToken], n: int) -> _Clause | None:
    words = [t.text.upper() for t in tokens[n : n + 4]]
    for kind, before in (
        (_Kind.ABSENT, ["FILTER", "NOT", "EXISTS"]),
        (_Kind.PRESENT, ["FILTER", "EXISTS"]),
        (_Kind.MINUS, ["MINUS"]),
        (_Kind.OPTIONAL, ["OPTIONAL"]),
    ):
        if tokens[n].kind == "word" and words[: len(before) + 1] == [*before, "{"]:
            opens = n + len(before)
            depth = 0
            for place in range(opens, len(tokens)):
                depth += {"{": 1, "}": -1}.get(tokens[place].text, 0)
                if depth == 0:
                    return _Clause(kind, n, opens, place)
    return None


class _Splitter:
    def __init__(
        self,
        text: str,
        file: str,
        tokens: Sequence[SparqlToken],
        start: int,
        clauses: Sequence[_Clause],
    ) -> None:
        self.text, self.file, self.tokens = text, file, tokens
        self.start, self.clauses = start, clauses
        depth = 0
        for n in range(start, len(tokens)):
            depth += {"{": 1, "}": -1}.get(tokens[n].text, 0)
            if depth == 0:
                break
        self.end = n

    def split(self) -> SplitText:
        select = self._find_select()
        head, distinct = self._read_head(select)
        self._check_around()
        optional = [c for c in self.clauses if c.kind is _Kind.OPTIONAL]
        if len(optional) > MAX_OPTIONAL:
            raise self._refuse(
                f"{len(optional)} OPTIONAL patterns",
                f"each is there, or not, in every combination: of {MAX_OPTIONAL} at most",
                "register several queries",
                optional[MAX_OPTIONAL],
            )
        own = self._variables([n for n in range(self.start, self.end) if not self._inside(n)])
        names = head or (*own, *(v for c in optional for v in self._of(c) if v not in own))
        names = tuple(dict.fromkeys(names))
        self._check_optional(own, optional)
        alternatives = []
        for there in product((True, False), repeat=len(optional)):
            chosen = [c for c, is_there in zip(optional, there, strict=True) if is_there]
            alternatives.append(self._alternative(select, names, distinct, own, chosen))
        shown = names if head else tuple(n for n in names if n not in self._times())
        return SplitText(
            shown, distinct, tuple(alternatives), Source(self.file, self.tokens[select].line)
        )

    def _alternative(
        self, select: int, head: Sequence[str], distinct: bool, own: Sequence[str],
        chosen: Sequence[_Clause],
    ) -> SolutionTexts:  # fmt: skip
        """The solutions with some of the OPTIONAL patterns, and without the others."""
        known = tuple(dict.fromkeys((*own, *(v for c in chosen for v in self._of(c)))))
        times = [v for v in self._times(chosen) if v in known]
        beside: list[_Clause] = []
        needed: dict[str, None] = {}
        for clause in (c for c in self.clauses if c not in chosen):
            mine = [v for v in self._of(clause) if v in known]
            if clause.kind is _Kind.MINUS and not mine:
                continue  # it takes away what has a variable in common
            beside.append(clause)
            needed |= dict.fromkeys(mine)
        # of one solution, all parts say the same keys
        keys = tuple(dict.fromkeys((*needed, *times)))
        parts = []
        for clause in beside:
            text = self._write(select, keys, distinct, [*chosen, clause])
            parts.append(PartText(text, keys, clause.kind is _Kind.PRESENT))
        shown = dict.fromkeys((*(v for v in head if v in known), *keys, *times))
        return SolutionTexts(
            self._write(select, list(shown), distinct, chosen),
            tuple(times),
            tuple(parts),
            tuple(v for v in head if v not in known),
        )

    def _write(
        self, select: int, names: Sequence[str], distinct: bool, kept: Sequence[_Clause]
    ) -> str:
        """The text with other answer variables, and some of the clauses as patterns."""
        made = list(self.text)

        def blank(first: int, last: int) -> None:
            for n in range(first, last):
                if made[n] != "\n":
                    made[n] = " "

        after = self.tokens[select]
        begin = after.offset + len(after.text)
        end = next(
            t.offset
            for t in self.tokens[select + 1 :]
            if t.text == "{" or t.text.upper() in ("WHERE", "FROM")
        )
        blank(begin, end)
        for clause in self.clauses:
            opens, last = self.tokens[clause.opens].offset, self.tokens[clause.closes].offset
            if clause not in kept:
                blank(self.tokens[clause.first].offset, last)
            elif clause.kind is _Kind.MINUS:
                blank(self.tokens[clause.first].offset, opens)
                continue
            else:
                blank(self.tokens[clause.first].offset, opens)
                made[opens] = "."
            made[last] = "."
        kept_tokens = Tokens("".join(made)).tokens
        before = ""
        for token in kept_tokens:
            if token.text == "." and before in (".", "{"):
                blank(token.offset, token.offset + 1)
            else:
                before = token.text
        shown = " ".join(f"?{n}" for n in names)
        made.insert(begin, f" {'DISTINCT ' if distinct else ''}{shown} ")
        return "".join(made)

    def _find_select(self) -> int:
        found = [n for n, t in enumerate(self.tokens[: self.start]) if t.text.upper() == "SELECT"]
        if found:
            return found[-1]
        raise self._refuse(
            "NOT EXISTS, EXISTS, MINUS or OPTIONAL in a query that is no SELECT",
            "they are read in SELECT",
            "write SELECT and the variables",
            self.clauses[0],
        )

    def _read_head(self, select: int) -> tuple[tuple[str, ...], bool]:
        """The answer variables (none: *), and whether they are DISTINCT."""
        items = []
        distinct = False
        for token in self.tokens[select + 1 : self.start]:
            word = token.text.upper()
            if word in ("WHERE", "FROM"):
                break
            if word == "DISTINCT":
                distinct = True
            elif token.kind == "var":
                items.append(token.text[1:])
            elif token.text != "*":
                raise self._refuse(
                    f"{token.text} in SELECT, beside {self.clauses[0].kind}",
                    "expressions and aggregates are not read there yet",
                    "select the variables; in SQL they may be computed with, and aggregated",
                    None,
                    token.line,
                )
        return tuple(dict.fromkeys(items)), distinct

    def _check_around(self) -> None:
        for token in self.tokens[self.end + 1 :]:
            word = token.text.upper()
            if token.kind == "word" and word in ("GROUP", "HAVING", "VALUES"):
                raise self._refuse(
                    f"{word} beside {self.clauses[0].kind}",
                    "it is not read there yet",
                    "leave it out; in SQL such answers may be aggregated",
                    None,
                    token.line,
                )

    def _check_optional(self, own: Sequence[str], optional: Sequence[_Clause]) -> None:
        """Raise QueryError for a variable that an OPTIONAL pattern alone binds, elsewhere."""
        for clause in optional:
            mine = set(self._of(clause)) - set(own)
            for other in self.clauses:
                shared = mine & set(self._of(other)) if other is not clause else set()
                if shared:
                    raise self._refuse(
                        f"?{min(shared)} in two clauses, one of which is OPTIONAL",
                        "where the OPTIONAL pattern does not match, it has no value",
                        "write it in a pattern of the outermost group, or rename it in one of them",
                        clause,
                    )

    def _inside(self, n: int) -> bool:
        return any(c.first <= n <= c.closes for c in self.clauses)

    def _of(self, clause: _Clause) -> tuple[str, ...]:
        return self._variables(range(clause.opens, clause.closes))

    def _variables(self, places: Sequence[int]) -> tuple[str, ...]:
        tokens = (self.tokens[n] for n in places)
        return tuple(dict.fromkeys(t.text[1:] for t in tokens if t.kind == "var"))

    def _times(self, chosen: Sequence[_Clause] | None = None) -> tuple[str, ...]:
        """The variables of GRAPH, outside of all clauses but some (None: anywhere)."""
        times = []
        for n in range(self.start, self.end):
            if self.tokens[n].text.upper() != "GRAPH" or self.tokens[n + 1].kind != "var":
                continue
            outside = not self._inside(n)
            if chosen is None or outside or any(c.first <= n <= c.closes for c in chosen):
                times.append(self.tokens[n + 1].text[1:])
        return tuple(dict.fromkeys(times))

    def _refuse(
        self, what: str, why: str, fix: str, clause: _Clause | None, line: int | None = None
    ) -> QueryError:
        line = self.tokens[clause.first].line if clause is not None else line
        return QueryError(what, why=why, fix=fix, source=Source(self.file, line))
