"""A SPARQL text with NOT EXISTS, EXISTS, MINUS and OPTIONAL as texts without them.

They have the lines of the text, so that places in them are places in it.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import count, product

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.absence.clause_scopes import Clause, ClauseScopes
from ontoweir.rewriter.clauses.lift_clauses import lift_clauses, tidy_stops
from ontoweir.rewriter.clauses.list_items import (
    CLAUSES,
    Item,
    ItemKind,
    close_of,
    is_now,
    is_select,
    list_filters,
    list_items,
    list_variables,
)
from ontoweir.rewriter.rounded.wrap_sums import is_of_several
from ontoweir.rewriter.syntax.locate_tokens import Tokens

MAX_OPTIONAL = 4
"""A query may have so many OPTIONAL patterns: each is there, or not, in every combination."""

_AFTER = frozenset({"GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET"})


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
    """A query whose answers are made of solutions.

    `head`: its answer variables (what `around` gives if there is one), and whether it is
    `distinct`; `around`: the query with all patterns, and without the clauses, where more is
    computed of the solutions than which of their variables are shown; `late`: variables that may
    have no value in them.
    """

    texts: tuple["_Text", ...]
    head: tuple[str, ...]
    distinct: bool
    source: Source
    around: str | None
    late: frozenset[str]

    def write_solutions(self, head: Sequence[str], *, distinct: bool) -> tuple[SolutionTexts, ...]:
        """The queries that give the solutions, of some variables.

        Raises:
            QueryError: clauses are beside what they are not read with.
        """
        return tuple(s for text in self.texts for s in text.write_solutions(head, distinct))


def split_text(text: str, file: str) -> SplitText | None:
    """The queries that a query is made of (None: it has none of these clauses).

    Raises:
        QueryError: they are beside what they are not read with.
    """
    lifted = lift_clauses(text, file)
    if lifted is None:
        return None
    texts = tuple(_Text(t, file) for t in lifted.texts)
    whole = _Text(lifted.joined, file)
    certain = frozenset.intersection(*(t.bound for t in texts))
    _check_windows((whole, *texts))
    items, distinct = whole.read_head()
    times = whole.list_times()
    names = tuple(n for n in whole.variables if n not in times) if items is None else items
    computed = whole.computes or any(t.late_items for t in texts)
    return SplitText(
        texts,
        names,
        distinct,
        Source(file, whole.tokens[whole.select].line),
        whole.write_around(certain) if computed else None,
        (whole.bound | whole.optional) - certain,
    )


def _check_windows(texts: "Sequence[_Text]") -> None:
    """Raise QueryError for branches of UNION with windows of their own."""
    if len({text.write_windows() for text in texts}) > 1:
        raise texts[0].refuse(
            "NOW() in a branch of UNION, beside NOT EXISTS, EXISTS, MINUS or OPTIONAL",
            "when answers end would have different meanings",
            "write the FILTER with NOW() outside of UNION, or register a query for each",
            texts[0].tokens[texts[0].start].line,
        )


class _Text:
    """A text whose clauses are in the outermost group, and OPTIONAL patterns in each other."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self.tokens = Tokens(text).tokens
        self.start = next(n for n, t in enumerate(self.tokens) if t.text == "{")
        self.end = close_of(self.tokens, self.start)
        self.items = list_items(self.tokens, self.start)
        self.scopes = ClauseScopes(self.tokens, self.items, self.late_items, file)
        self.clauses = self.scopes.clauses
        self.variables_of = self.scopes.variables_of
        self.select = self._find_select()

    def _find_select(self) -> int:
        words = [t.text.upper() for t in self.tokens[: self.start]]
        if "SELECT" in words:
            return max(n for n, word in enumerate(words) if word == "SELECT")
        raise self.refuse(
            "NOT EXISTS, EXISTS, MINUS or OPTIONAL in a query that is no SELECT",
            "they are read in SELECT",
            "write SELECT and the variables",
            self.tokens[self.start].line,
        )

    @cached_property
    def _selects(self) -> tuple[range, ...]:
        """The places of SELECTs within the text, whose times are their own."""
        opens = (n for n in range(self.start, self.end) if self.tokens[n].text == "{")
        return tuple(range(n, close_of(self.tokens, n)) for n in opens if is_select(self.tokens, n))

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """What patterns and OPTIONAL patterns bind, in the order of the text."""
        shown = [*self.bound_in_order]
        for clause in self.clauses:
            if clause.item.kind is ItemKind.OPTIONAL:
                shown += [v for v in self.variables_of(clause) if v not in shown]
        return tuple(shown)

    @cached_property
    def bound_in_order(self) -> tuple[str, ...]:
        """What has a value in every solution."""
        bound: dict[str, None] = {}
        for item in self.items:
            if item.kind in CLAUSES or item.kind is ItemKind.FILTER:
                continue
            if item not in self.late_items:
                bound |= dict.fromkeys(list_variables(self.tokens, item.places))
        return tuple(bound)

    @cached_property
    def bound(self) -> frozenset[str]:
        """What has a value in every solution."""
        return frozenset(self.bound_in_order)

    @cached_property
    def optional(self) -> frozenset[str]:
        """What OPTIONAL patterns bind, and nothing else."""
        kind = ItemKind.OPTIONAL
        found = (v for c in self.clauses if c.item.kind is kind for v in self.variables_of(c))
        late = (list_variables(self.tokens, i.places)[-1:] for i in self.late_binds)
        return frozenset((*found, *(v for names in late for v in names))) - self.bound

    @cached_property
    def _suffix(self) -> str:
        """What makes other names of names: no variable of the text ends so."""
        names = [t.text for t in self.tokens if t.kind == "var"]
        made = (f"_apart{n or ''}" for n in count())
        return next(s for s in made if not any(n.endswith(s) for n in names))

    @cached_property
    def late_items(self) -> tuple[Item, ...]:
        """The FILTERs and BINDs of what may have no value."""
        plain = (ItemKind.FILTER, ItemKind.BIND)
        patterns = (i for i in self.items if i.kind not in CLAUSES and i.kind not in plain)
        known = {v for i in patterns for v in list_variables(self.tokens, i.places)}
        late = []
        for item in self.items:
            if item.kind is ItemKind.BIND:
                *used, made = list_variables(self.tokens, item.places) or ("",)
                if known.issuperset(used) and not is_of_several(self.tokens, item):
                    known.add(made)
                else:
                    late.append(item)
        for item in self.items:
            used = list(list_variables(self.tokens, item.places))
            if item.kind is ItemKind.FILTER and (
                not known.issuperset(used) or is_of_several(self.tokens, item)
            ):
                late.append(item)
        return tuple(late)

    @cached_property
    def windows(self) -> tuple[Item, ...]:
        """The FILTERs with NOW()."""
        plain = (i for i in self.items if i.kind is ItemKind.FILTER and not i.braces)
        return tuple(i for i in plain if any(is_now(self.tokens[n]) for n in i.places))

    def write_windows(self) -> frozenset[tuple[str, ...]]:
        """What they say."""
        return frozenset(tuple(self.tokens[n].text for n in i.places) for i in self.windows)

    @property
    def late_binds(self) -> Iterator[Item]:
        """The BINDs of what may have no value."""
        return (i for i in self.late_items if i.kind is ItemKind.BIND)

    @property
    def computes(self) -> bool:
        """Whether answers are more than variables of solutions."""
        if self.windows:
            return True
        head = self.tokens[self.select + 1 : self.start]
        after = (t.text.upper() for t in self.tokens[self.end + 1 :] if t.kind == "word")
        return any(t.text == "(" for t in head) or not _AFTER.isdisjoint(after)

    def read_head(self) -> tuple[tuple[str, ...] | None, bool]:
        """The answer variables (None: *), and whether they are DISTINCT."""
        items: list[str] = []
        distinct = False
        for token in self.tokens[self.select + 1 : self.start]:
            word = token.text.upper()
            if word in ("WHERE", "FROM"):
                break
            distinct |= word == "DISTINCT"
            if token.kind == "var":
                items.append(token.text[1:])
        return tuple(dict.fromkeys(items)) or None, distinct

    def list_times(self, chosen: Sequence[Clause] | None = None) -> tuple[str, ...]:
        """The variables of GRAPH, outside of all clauses but some (None: anywhere)."""
        times = []
        for n in range(self.start, self.end):
            if self.tokens[n].text.upper() != "GRAPH" or self.tokens[n + 1].kind != "var":
                continue
            if any(n in places for places in self._selects):
                continue
            around = [c for c in self.clauses if n in c.item.places]
            if chosen is None or all(c in chosen for c in around):
                times.append(self.tokens[n + 1].text[1:])
        return tuple(dict.fromkeys(times))

    def write_solutions(self, head: Sequence[str], distinct: bool) -> Iterator[SolutionTexts]:
        """The queries of solutions, for each choice of OPTIONAL patterns."""
        optional = [c for c in self.clauses if c.item.kind is ItemKind.OPTIONAL]
        if len(optional) > MAX_OPTIONAL:
            raise self.refuse(
                f"{len(optional)} OPTIONAL patterns",
                f"each is there, or not, in every combination: of {MAX_OPTIONAL} at most",
                "register several queries",
                self._line(optional[MAX_OPTIONAL]),
            )
        self.scopes.check()
        for there in product((True, False), repeat=len(optional)):
            chosen = [c for c, is_there in zip(optional, there, strict=True) if is_there]
            if all(c.parent is None or c.parent in chosen for c in chosen):
                yield self._write_alternative(head, distinct, chosen)

    def _write_alternative(
        self, head: Sequence[str], distinct: bool, chosen: Sequence[Clause]
    ) -> SolutionTexts:
        """The solutions with some of the OPTIONAL patterns, and without the others."""
        known = dict.fromkeys(self.bound_in_order)
        known |= dict.fromkeys(v for c in chosen for v in self.variables_of(c))
        times = [v for v in self.list_times(chosen) if v in known]
        beside: list[tuple[Clause, Set[str]]] = []
        needed: dict[str, None] = {}
        for clause in self.clauses:
            if clause in chosen or not (clause.parent is None or clause.parent in chosen):
                continue
            bound = self.scopes.bound_before(clause, chosen)
            mine = [v for v in self.variables_of(clause) if v in bound]
            if clause.item.kind is ItemKind.MINUS and not mine:
                continue  # it takes away what has a variable in common
            beside.append((clause, known.keys() - bound))
            needed |= dict.fromkeys(mine)
        # the same of all parts; what is always there is told apart by all that it shows
        always = () if times else (v for v in head if v in known)
        keys = tuple(dict.fromkeys((*needed, *times, *always)))
        parts = []
        for clause, other in beside:
            text = self._write(keys, distinct, [*chosen, clause], (clause, other))
            parts.append(PartText(text, keys, clause.item.kind is ItemKind.PRESENT))
        shown = dict.fromkeys((*(v for v in head if v in known), *keys, *times))
        return SolutionTexts(
            self._write(list(shown), distinct, chosen),
            tuple(times),
            tuple(parts),
            tuple(v for v in head if v not in known),
        )

    def _write(
        self,
        names: Sequence[str],
        distinct: bool,
        kept: Sequence[Clause],
        apart: tuple[Clause, Set[str]] | None = None,
    ) -> str:
        """The text with other answer variables, and some of the clauses as patterns; `apart`:
        one of which some variables are others than those of the same names."""
        made = self._splice(kept, {*self.late_items, *self.windows}, apart)
        after = self.tokens[self.select]
        begin = after.offset + len(after.text)
        end = next(
            t.offset
            for t in self.tokens[self.select + 1 :]
            if t.text == "{" or t.text.upper() in ("WHERE", "FROM")
        )
        _blank(made, begin, end)
        last = self.tokens[self.end].offset + 1
        rest = (t.offset for t in self.tokens[self.end + 1 :] if t.text.upper() == "VALUES")
        _blank(made, last, min(rest, default=len(self.text)))
        text = tidy_stops("".join(made))
        shown = " ".join(f"?{n}" for n in names)
        return f"{text[:begin]} {'DISTINCT ' if distinct else ''}{shown} {text[begin:]}"

    def write_around(self, certain: frozenset[str]) -> str:
        """The text with OPTIONAL patterns as patterns, without the FILTERs of what is certain to
        have a value."""
        optional = [c for c in self.clauses if c.item.kind is ItemKind.OPTIONAL]
        early = {
            i
            for i in self.items
            if i.kind is ItemKind.FILTER
            and i not in self.windows
            and not is_of_several(self.tokens, i)
            and certain.issuperset(list_variables(self.tokens, i.places))
        }
        within = [c.item for c in optional] + [i for i in self.items if i.kind is ItemKind.GRAPH]
        opens = (n for i in within for n, _ in i.braces)
        inner = {i for n in opens for i in list_filters(self.tokens, n)}
        return tidy_stops("".join(self._splice(optional, early | inner)))

    def _splice(
        self,
        kept: Sequence[Clause],
        left_out: set[Item],
        apart: tuple[Clause, Set[str]] | None = None,
    ) -> list[str]:
        """The text with some of the clauses as patterns, the others and some items left out."""
        made = list(self.text)
        for clause, names in () if apart is None else (apart,):
            for place in clause.item.places:
                token = self.tokens[place]
                if token.kind == "var" and token.text[1:] in names:
                    made[token.offset + len(token.text) - 1] += self._suffix
        for item in left_out:
            end = self.tokens[item.last]
            _blank(made, self.tokens[item.first].offset, end.offset + len(end.text))
        for clause in self.clauses:
            item = clause.item
            opens, last = (self.tokens[n].offset for n in item.braces[0])
            dropped = [] if item.kind is ItemKind.OPTIONAL else clause.inner
            if clause not in kept:
                _blank(made, self.tokens[item.first].offset, last)
                made[last] = "."
                continue
            _blank(made, self.tokens[item.first].offset, opens)
            for inner in dropped:
                end = self.tokens[inner.last]
                _blank(made, self.tokens[inner.first].offset, end.offset + 1)
            if item.kind is not ItemKind.MINUS:  # whose variables are its own
                made[opens] = made[last] = "."
        return made

    def _line(self, clause: Clause) -> int:
        return self.tokens[clause.item.first].line

    def refuse(self, what: str, why: str, fix: str, line: int) -> QueryError:
        return QueryError(what, why=why, fix=fix, source=Source(self.file, line))


def _blank(made: list[str], first: int, last: int) -> None:
    for n in range(first, last):
        if made[n] != "\n":
            made[n] = " "
