"""A SPARQL text without FILTERs in which EXISTS is beside || and !: the texts of their cases.

`FILTER(a || EXISTS { B })` is FILTER(a), or FILTER EXISTS { B } where a is not true: false, or an
error. && and || of SPARQL (1.1, 17.2) are true where truth values of their parts say so, whatever
the errors in others, so cases are made of what is true, false, not true and not false; EXISTS is
never an error. Under bag semantics no two of them hold of one solution.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias, assert_never

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.clauses.edit_text import Edit
from ontoweir.rewriter.clauses.list_items import (
    CLAUSES,
    Item,
    ItemKind,
    close_of,
    list_items,
    list_variables,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens

MAX_CASES = 64
"""A FILTER may have so many cases."""


@dataclass(frozen=True, slots=True)
class _Plain:
    """An expression without EXISTS: its first and its last token."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Exists:
    """EXISTS { … }, by its braces."""

    opens: int
    closes: int


@dataclass(frozen=True, slots=True)
class _Not:
    part: "_Formula"


@dataclass(frozen=True, slots=True)
class _Several:
    """All parts (&&), or any (||)."""

    every: bool
    parts: tuple["_Formula", ...]


_Formula: TypeAlias = _Plain | _Exists | _Not | _Several


@dataclass(frozen=True, slots=True)
class _Says:
    """That a part has a truth value, or (not `certain`) has another one, or is an error."""

    part: _Plain | _Exists
    value: bool
    certain: bool = True


_Case: TypeAlias = tuple[_Says, ...]


def split_choices(text: str, file: str) -> Iterator[str]:
    """The texts whose solutions together are those of a text, without such FILTERs in its
    outermost group; on its lines.

    Raises:
        QueryError: a FILTER has EXISTS in another expression, too many cases, or none; or a part
            of it reads what may have no value.
    """
    tokens = Tokens(text).tokens
    found = list(_list_choices(tokens))
    choices = []
    for item in found:
        reader = _Reader(tokens, file, text)
        formula = reader.read(item.first + 1, item.last)
        _check_bound(tokens, item, formula, file)
        cases = reader.split(formula, True, True)
        if not cases:
            raise QueryError(
                "a FILTER that never holds",
                why="it says that the same pattern matches, and that it does not",
                fix="leave one of them out",
                source=Source(file, tokens[item.first].line),
            )
        choices.append((item, cases))
    for chosen in product(*(cases for _, cases in choices)):
        edit = Edit(text)
        for (item, _), case in zip(choices, chosen, strict=True):
            _write_case(edit, item, case)
        yield edit.finish()


def drop_choices(text: str) -> str:
    """The text without these FILTERs."""
    edit = Edit(text)
    for item in _list_choices(edit.tokens):
        edit.blank(item.first, item.last)
    return edit.finish()


def _list_choices(tokens: Sequence[SparqlToken]) -> Iterator[Item]:
    start = next(n for n, t in enumerate(tokens) if t.text == "{")
    for item in list_items(tokens, start):
        if item.kind is ItemKind.FILTER and item.braces:
            yield item


class _Reader:
    """Reads and splits the expression of a FILTER."""

    def __init__(self, tokens: Sequence[SparqlToken], file: str, text: str) -> None:
        self.tokens, self.file, self.text = tokens, file, text
        head = tokens[: next(n for n, t in enumerate(tokens) if t.text == "{")]
        words = [t.text.upper() for t in head]
        last = max((n for n, word in enumerate(words) if word == "SELECT"), default=0)
        self.disjoint = words[last + 1 : last + 2] != ["DISTINCT"]

    def read(self, first: int, last: int) -> _Formula:
        """The formula between two tokens."""
        tokens = self.tokens
        while tokens[first].text == "(" and close_of(tokens, first) == last:
            first, last = first + 1, last - 1
        if not any(_is_word(tokens[n], "EXISTS") for n in range(first, last + 1)):
            return _Plain(first, last)
        for sign in ("||", "&&"):
            parts = list(self._split(first, last, sign))
            if len(parts) > 1:
                return _Several(sign == "&&", tuple(self.read(f, n) for f, n in parts))
        if tokens[first].text == "!":
            return _Not(self.read(first + 1, last))
        negated = _is_word(tokens[first], "NOT")
        opens = first + 1 + negated
        if _is_word(tokens[opens - 1], "EXISTS") and close_of(tokens, opens) == last:
            found = _Exists(opens, last)
            return _Not(found) if negated else found
        raise QueryError(
            "EXISTS in an expression of a FILTER",
            why="it is read beside &&, || and !",
            fix="write FILTER(… || EXISTS { … })",
            source=Source(self.file, tokens[first].line),
        )

    def _split(self, first: int, last: int, sign: str) -> Iterator[tuple[int, int]]:
        begin = n = first
        while n <= last:
            if self.tokens[n].text in ("(", "{"):
                n = close_of(self.tokens, n)
            elif self.tokens[n].text == sign:
                yield begin, n - 1
                begin = n + 1
            n += 1
        yield begin, last

    def split(self, formula: _Formula, value: bool, certain: bool) -> tuple[_Case, ...]:
        """The cases where a formula has a truth value, or (not `certain`) has not."""
        match formula:
            case _Plain():
                return ((_Says(formula, value, certain),),)
            case _Exists():
                return ((_Says(formula, value is certain),),)
            case _Not(part=part):
                return self.split(part, not value, certain)
            case _Several(every=every, parts=parts):
                ordered = sorted(parts, key=lambda p: not isinstance(p, _Plain))
                if every is (value is certain):
                    return self._meet([self.split(p, value, certain) for p in ordered])
                return self._join(ordered, value, certain)
            case _ as unreachable:
                assert_never(unreachable)

    def _join(self, parts: Sequence[_Formula], value: bool, certain: bool) -> tuple[_Case, ...]:
        first, *rest = parts
        made = self.split(first, value, certain)
        if not rest:
            return made
        others = self._join(rest, value, certain)
        if self.disjoint:
            others = self._meet([self.split(first, value, not certain), others])
        return self._limit((*made, *others))

    def _meet(self, parts: Sequence[tuple[_Case, ...]]) -> tuple[_Case, ...]:
        met: tuple[_Case, ...] = ((),)
        for cases in parts:
            merged = (self._merge(a, b) for a, b in product(met, cases))
            met = self._limit(tuple(case for case in merged if case is not None))
        return met

    def _merge(self, left: _Case, right: _Case) -> _Case | None:
        """Both; None: one says the opposite of the other."""
        made = {self._text_of(s.part): s for s in left}
        kept = list(left)
        for says in right:
            known = made.get(self._text_of(says.part))
            if known is None:
                kept.append(says)
            elif isinstance(says.part, _Exists):
                if says.value is not known.value:
                    return None
            elif says.value is known.value and says.certain is not known.certain:
                return None
            elif says != known:
                kept.append(says)
        return tuple(kept)

    def _text_of(self, part: _Plain | _Exists) -> tuple[str, ...]:
        first, last = (
            (part.opens, part.closes)
            if isinstance(part, _Exists)
            else (
                part.first,
                part.last,
            )
        )
        return tuple(t.text for t in self.tokens[first : last + 1])

    def _limit(self, cases: tuple[_Case, ...]) -> tuple[_Case, ...]:
        if len(cases) <= MAX_CASES:
            return cases
        raise QueryError(
            f"a FILTER of more than {MAX_CASES} cases of what is there and what is not",
            why="each is decided by itself",
            fix="register several queries",
            source=Source(self.file, self.tokens[0].line),
        )


def _is_word(token: SparqlToken, word: str) -> bool:
    return token.kind == "word" and token.text.upper() == word


def _check_bound(tokens: Sequence[SparqlToken], choice: Item, formula: _Formula, file: str) -> None:
    """Raise QueryError for an expression of what OPTIONAL patterns alone bind, or nothing."""
    start = next(n for n, t in enumerate(tokens) if t.text == "{")
    bound: set[str] = set()
    optional: set[str] = set()
    for item in list_items(tokens, start):
        if item.kind in CLAUSES:
            optional.update(list_variables(tokens, item.places))
        elif item.kind is not ItemKind.FILTER:
            *read, made = list_variables(tokens, item.places) or ("",)
            if item.kind is ItemKind.BIND and not bound.issuperset(read):
                optional.add(made)
            else:
                bound.update((*read, made))
    source = Source(file, tokens[choice.first].line)
    for part in _list_plain(formula):
        used = set(list_variables(tokens, range(part.first, part.last + 1))) - bound
        if used & optional:
            raise QueryError(
                f"?{min(used & optional)}, which may have no value, in a FILTER beside EXISTS",
                why="it is read of solutions, after what is beside them",
                fix="register two queries, with FILTER(a), and with FILTER EXISTS { … } and "
                "FILTER(!COALESCE(a, false)), for FILTER(a || EXISTS { … })",
                source=source,
            )
        if used:
            raise QueryError(
                f"?{min(used)} is in a FILTER but in no pattern of its group",
                why="a filter compares what the patterns or GRAPH in its { … } bind",
                fix=f"write a pattern with ?{min(used)} there",
                source=source,
            )


def _list_plain(formula: _Formula) -> Iterator[_Plain]:
    match formula:
        case _Plain():
            yield formula
        case _Exists():
            return
        case _Not(part=part):
            yield from _list_plain(part)
        case _Several(parts=parts):
            for part in parts:
                yield from _list_plain(part)
        case _ as unreachable:
            assert_never(unreachable)


def _write_case(edit: Edit, item: Item, case: _Case) -> None:
    """FILTERs in the place of one."""
    kept: set[int] = set()
    for says in case:
        if isinstance(says.part, _Exists):
            kept.update(range(says.part.opens, says.part.closes + 1))
        else:
            kept.update(range(says.part.first, says.part.last + 1))
    for n in item.places:
        if n not in kept:
            edit.blank(n, n)
    for says in case:
        if isinstance(says.part, _Exists):
            edit.before(says.part.opens, f" FILTER {'' if says.value else 'NOT '}EXISTS ")
            edit.after(says.part.closes, " ")
            continue
        before, after = ("(", ")") if says.value else ("(!(", "))")
        if not says.certain:
            before, after = f"(!COALESCE({before}", f"{after}, false))"
        edit.before(says.part.first, f" FILTER{before}")
        edit.after(says.part.last, f"{after} ")
