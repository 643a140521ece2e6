"""What is bound where a clause of a SPARQL text stands: OPTIONAL and MINUS see what is written
before them, NOT EXISTS and EXISTS all of their group (SPARQL 1.1, 18.2.2).

A variable of a clause that is bound later alone is another one there: `A OPTIONAL { B } C` is B
beside A, and what is found of both joined with C.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ontoweir.errors import QueryError, Source
from ontoweir.rewriter.clauses.list_items import (
    CLAUSES,
    Item,
    ItemKind,
    list_items,
    list_variables,
)
from ontoweir.rewriter.syntax.locate_tokens import SparqlToken


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of the outermost group; `inner`: the OPTIONAL patterns directly in it; `parent`:
    that it is in, an OPTIONAL too."""

    item: Item
    inner: tuple[Item, ...]
    parent: "Clause | None" = None


class ClauseScopes:
    """The clauses of a text, whose outermost group has `items`; `late`: FILTERs and BINDs of these
    that are computed of solutions."""

    def __init__(
        self, tokens: Sequence[SparqlToken], items: Sequence[Item], late: Sequence[Item], file: str
    ) -> None:
        self.tokens, self.items, self.file = tokens, items, file
        self.late = late
        self.clauses = tuple(list_nested(tokens, items, None))

    def variables_of(self, clause: Clause) -> tuple[str, ...]:
        """The variables of a clause, without those of OPTIONAL patterns in it."""
        inner = {n for i in clause.inner for n in i.places}
        return list_variables(self.tokens, [n for n in clause.item.places if n not in inner])

    def bound_before(self, clause: Clause, chosen: Sequence[Clause]) -> frozenset[str]:
        """What has a value where a clause is matched, if some OPTIONAL patterns are there."""
        group = self._group_of(clause)
        whole = clause.item.kind in (ItemKind.ABSENT, ItemKind.PRESENT)
        items = [i for i in group if whole or i.last < clause.item.first]
        places = {i.first for i in items}
        found = self._bind(items)
        for other in chosen:
            if any(c.item.first in places and c.parent == clause.parent for c in _line_of(other)):
                found |= set(self.variables_of(other))
        return frozenset(found)

    def check(self) -> None:
        """Raise QueryError for clauses that read what may have no value where they stand, or
        whether they match would depend on it."""
        made = (list_variables(self.tokens, i.places)[-1:] for i in self.late)
        late = {v for i, names in zip(self.late, made, strict=True) for v in names if _binds(i)}
        for clause in self.clauses:
            if clause.item.kind is not ItemKind.OPTIONAL:
                self._check_dropped(clause)
            mine = set(self.variables_of(clause))
            wrong = mine & late or self._read_early(clause)
            if wrong:
                raise self._refuse(
                    f"?{min(wrong)} in {clause.item.kind}, which may have no value there",
                    "whether there is a match would depend on it",
                    "write it in a pattern of the outermost group before it, or rename it there",
                    clause.item,
                )
            self._check_nested(clause)

    def _group_of(self, clause: Clause) -> Sequence[Item]:
        """The items of the group that a clause is in."""
        if clause.parent is None:
            return self.items
        return list_items(self.tokens, clause.parent.item.braces[0][0])

    def _bind(self, items: Sequence[Item]) -> set[str]:
        """What has a value beside each solution of some items."""
        kinds = (*CLAUSES, ItemKind.FILTER)
        plain = (i for i in items if i.kind not in kinds and i not in self.late)
        return {v for i in plain for v in list_variables(self.tokens, i.places)}

    def _read_early(self, clause: Clause) -> set[str]:
        """The variables that FILTERs of a clause read, and that are bound elsewhere, but need have
        no value there."""
        body = list_items(self.tokens, clause.item.braces[0][0])
        filters = [i for i in body if i.kind is ItemKind.FILTER]
        read = {v for i in filters for v in list_variables(self.tokens, i.places)}
        known = self.bound_before(clause, ()) | self._bind(body)
        others = (c for c in self.clauses if c.item.kind is ItemKind.OPTIONAL)
        bound = self._bind(self.items).union(*(self.variables_of(c) for c in others if c != clause))
        for other in clause.inner:
            bound -= set(list_variables(self.tokens, other.places))  # as _check_dropped says
        return (read - known) & bound

    def _check_nested(self, clause: Clause) -> None:
        """Raise QueryError for an OPTIONAL pattern in another one that has a variable of what is
        before that: within its braces the variable is not bound."""
        if clause.parent is None:
            return
        around = {c.item.first for c in _line_of(clause)}
        before = [c for c in self.clauses if c.item.last < clause.item.first]
        others = [c for c in before if c.item.kind is ItemKind.OPTIONAL]
        outside = [c for c in others if c.parent != clause.parent and c.item.first not in around]
        known = {v for c in outside for v in self.variables_of(c)}
        for parent in _line_of(clause)[1:]:
            known |= self.bound_before(parent, ())
        body = list_items(self.tokens, clause.parent.item.braces[0][0])
        wrong = set(self.variables_of(clause)) & known - self._bind(body)
        if wrong:
            raise self._refuse(
                f"?{min(wrong)} in OPTIONAL inside of OPTIONAL, whose other patterns do not bind "
                "it",
                "inside of the outer braces it has another value than before them, or none",
                f"write a pattern with ?{min(wrong)} in the outer OPTIONAL, or rename it",
                clause.item,
            )

    def _check_dropped(self, clause: Clause) -> None:
        """Raise QueryError for an OPTIONAL pattern on which a clause around it depends."""
        body = list_items(self.tokens, clause.item.braces[0][0])
        filters = [i for i in body if i.kind is ItemKind.FILTER]
        read = {v for i in filters for v in list_variables(self.tokens, i.places)}
        if clause.item.kind is ItemKind.MINUS:
            others = (c for c in self.clauses if c.item.kind is ItemKind.OPTIONAL)
            read |= self._bind(self.items).union(*map(self.variables_of, others))
        own = self._bind(body)
        for inner in clause.inner:
            used = set(list_variables(self.tokens, inner.places)) & read - own
            if used:
                raise self._refuse(
                    f"?{min(used)} of an OPTIONAL pattern inside of {clause.item.kind}",
                    "whether there is a match would depend on its value, and it may have none",
                    f"write two {clause.item.kind} clauses, with the pattern and without it",
                    inner,
                )

    def _refuse(self, what: str, why: str, fix: str, item: Item) -> QueryError:
        return QueryError(
            what, why=why, fix=fix, source=Source(self.file, self.tokens[item.first].line)
        )


def list_nested(
    tokens: Sequence[SparqlToken], items: Sequence[Item], parent: Clause | None
) -> Iterator[Clause]:
    """The clauses of some items, and OPTIONAL patterns in each other."""
    for item in items:
        if item.kind not in CLAUSES or not item.braces:
            continue
        body = list_items(tokens, item.braces[0][0])
        inner = tuple(i for i in body if i.kind is ItemKind.OPTIONAL)
        made = Clause(item, inner, parent)
        yield made
        if item.kind is ItemKind.OPTIONAL:
            yield from list_nested(tokens, inner, made)


def _line_of(clause: Clause) -> list[Clause]:
    """A clause, and those that it is in."""
    return [clause] if clause.parent is None else [clause, *_line_of(clause.parent)]


def _binds(item: Item) -> bool:
    return item.kind is ItemKind.BIND
