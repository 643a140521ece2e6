"""Split `≠` of a set query into `<` and `>`, which need a least and a greatest value only."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from ontoweir.checker.model.normal_form import Kind, NormalForm
from ontoweir.rewriter.model.spj import Attribute, Compare, Op, SpjQuery

MAX_UNEQUAL = 4
"""A query with more of them is left as it is: parts double with each."""


def split_unequal(form: NormalForm) -> tuple[SpjQuery, ...]:
    """Parts that together are the query under set semantics, or the query itself.

    Whether some tuple so far differs from a later one is known from the least and the greatest
    value so far. Strings are not ordered here, so that theirs stay.

    Args:
        form: a satisfiable disjunct of a set query.
    """
    query = form.query
    found = [c for c in query.conditions if isinstance(c, Compare) and _splits(form, c)]
    if not 0 < len(found) <= MAX_UNEQUAL:
        return (query,)
    return tuple(_parts(query, found))


def _splits(form: NormalForm, c: Compare) -> bool:
    """Whether it is a `≠` between members, of values in an order, one of them unbounded."""
    if c.op is not Op.NE or not isinstance(c.right, Attribute) or c.left not in form.class_of:
        return False
    x, y = (form.classes[form.class_of[a]] for a in (c.left, c.right))
    pairs = {(d.x, d.y) for d in form.disequalities}
    return (
        (x.index, y.index) in pairs
        and x.kind not in (Kind.STRING, Kind.BOOLEAN)
        and not (x.domain.finite and y.domain.finite)
    )


def _parts(query: SpjQuery, found: list[Compare]) -> Iterator[SpjQuery]:
    for sides in product((Op.LT, Op.GT), repeat=len(found)):
        chosen = {id(c): replace(c, op=op) for c, op in zip(found, sides, strict=True)}
        conditions = tuple(chosen.get(id(c), c) for c in query.conditions)
        yield replace(query, conditions=conditions)
