"""Containment of SPJ queries by a homomorphism. [CM] Chandra, Merlin, STOC 1977."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from ontoweir.errors import Source
from ontoweir.mappings.model.catalog import Catalog, Scalar, Stream
from ontoweir.rewriter.algebra.bound_differences import Limit, Node, bound_differences
from ontoweir.rewriter.algebra.equality_classes import (
    EqualityClasses,
    condition_attributes,
    map_condition,
    map_output,
    valued_attributes,
)
from ontoweir.rewriter.model.compare_scalars import compare_scalars
from ontoweir.rewriter.model.spj import (
    Attribute,
    Compare,
    Condition,
    Constant,
    IsNull,
    NotNull,
    NullOutput,
    Occurrence,
    OneOf,
    Op,
    Output,
    SpjQuery,
    output_attributes,
)
from ontoweir.rewriter.model.work_budget import WorkBudget

MAX_STEPS = 200_000
"""How many steps the search for a homomorphism may take."""


def is_contained(
    small: SpjQuery,
    big: SpjQuery,
    catalog: Catalog,
    *,
    one_to_one: bool = False,
    avoid: str | None = None,
    implied: "Implied | None" = None,
    limit: int | None = None,
) -> bool:
    """Whether every answer of `small` is one of `big` on all data that the catalog allows.

    Sound, not complete: big's occurrences are mapped to small's, or to rows that small's
    declared references guarantee; big's conditions must follow from small's one by one, or from
    the differences of numbers and times that these imply.
    With `one_to_one` the occurrences correspond one by one and no reference is used.
    `avoid`: an occurrence of small that none of big's is mapped to. `implied`: what small implies,
    where it is asked several times. `limit`: how many steps the search may take (None: MAX_STEPS).

    Raises:
        QueryError: the search takes more steps, as containment is NP-complete.
    """
    wanted = {o.table for o in big.occurrences}
    missing = wanted.difference(o.table for o in small.occurrences)
    if one_to_one:
        if missing or len(small.occurrences) != len(big.occurrences):
            return False
    elif any(name in catalog.streams for name in missing):  # which no reference leads to
        return False
    else:
        small = _chase(small, wanted, catalog)
        if not missing.issubset(o.table for o in small.occurrences):
            return False
    search = _Search(small, big, catalog, implied or Implied(small, catalog), one_to_one, avoid)
    budget = WorkBudget(
        "ways to map its tables onto each other",
        limit or MAX_STEPS,
        f"it reads {len(big.occurrences)} tables, many of them the same one, and whether one of "
        "them is redundant is decided by trying all",
        "join its patterns by more shared variables, declare keys, or ask for fewer patterns",
        _place(small) or _place(big),
    )
    return search.outputs_agree and search.extend({}, budget)


class _Search:
    """The search for a homomorphism from `big` to `small`: what is compared, and when.

    `due`, `made`: conditions, and outputs with what they are to be, by how many occurrences have to
    be mapped before they can be compared.
    """

    def __init__(
        self,
        small: SpjQuery,
        big: SpjQuery,
        catalog: Catalog,
        implied: "Implied",
        one_to_one: bool,
        avoid: str | None,
    ) -> None:
        self.small, self.implied = small, implied
        self.one_to_one, self.avoid = one_to_one, avoid
        self.classes = EqualityClasses(small.occurrences, small.conditions)
        self.facts = [map_condition(c, self.classes.find) for c in small.conditions]
        self.valued = {a for c in self.facts for a in valued_attributes(c)}
        for o in small.occurrences:
            table = catalog.table(o.table)
            if isinstance(table, Stream):  # a timestamp is never NULL
                self.valued.add(self.classes.find(Attribute(o.alias, table.timestamp)))
        self.order = _in_order(big, avoid)
        rank = {o.alias: n for n, o in enumerate(self.order)}
        self.due: list[list[Condition]] = [[] for _ in big.occurrences]
        for condition in big.conditions:
            self.due[max(rank[a.alias] for a in condition_attributes(condition))].append(condition)
        self.made: list[list[tuple[Output, Output]]] = [[] for _ in (*big.occurrences, None)]
        self.outputs_agree = True
        for (_, wanted), (_, output) in zip(small.outputs, big.outputs, strict=True):
            if isinstance(output, NullOutput) or isinstance(wanted, NullOutput):
                self.outputs_agree = self.outputs_agree and type(output) is type(wanted)
                continue
            last = max((rank[a.alias] + 1 for a in output_attributes(output)), default=0)
            self.made[last].append((output, map_output(wanted, self.classes.find)))
        self.known: dict[tuple[int, tuple[str, ...]], bool] = {}

    def extend(self, chosen: dict[str, str], budget: WorkBudget) -> bool:
        """Extend a mapping; conditions and outputs are compared as soon as their occurrences are
        mapped."""
        budget.step()

        def move(attribute: Attribute) -> Attribute:
            return self.classes.find(Attribute(chosen[attribute.alias], attribute.column))

        size = len(chosen)
        if size and not all(self._follows(c, chosen) for c in self.due[size - 1]):
            return False
        if any(map_output(output, move) != wanted for output, wanted in self.made[size]):
            return False
        if size == len(self.order):
            return True
        todo = self.order[size]
        return any(
            self.extend({**chosen, todo.alias: target.alias}, budget)
            for target in self.small.occurrences
            if target.table == todo.table
            and target.alias != self.avoid
            and not (self.one_to_one and target.alias in chosen.values())
        )

    def _follows(self, condition: Condition, chosen: dict[str, str]) -> bool:
        """Whether a condition's image holds; asked once for each image."""
        images = tuple(chosen[a.alias] for a in condition_attributes(condition))
        follows = self.known.get((id(condition), images))
        if follows is None:
            find = self.classes.find
            goal = map_condition(condition, lambda a: find(Attribute(chosen[a.alias], a.column)))
            follows = _follows(goal, self.facts, self.valued, self.classes) or self.implied.says(
                goal
            )
            self.known[(id(condition), images)] = follows
        return follows


def _in_order(query: SpjQuery, avoid: str | None) -> list[Occurrence]:
    """What has to leave its own place first: most often it cannot, and nothing else matters; then
    what is compared with those that are placed, so that a wrong place shows at once."""
    near: dict[str, set[str]] = {o.alias: set() for o in query.occurrences}
    for condition in query.conditions:
        there = {a.alias for a in condition_attributes(condition)}
        for alias in there:
            near[alias] |= there - {alias}
    rest = sorted(query.occurrences, key=lambda o: o.alias != avoid)
    order: list[Occurrence] = []
    placed: set[str] = set()
    while rest:
        one = max(rest, key=lambda o: len(near[o.alias] & placed)) if placed else rest[0]
        rest.remove(one)
        order.append(one)
        placed.add(one.alias)
    return order


def _place(query: SpjQuery) -> Source | None:
    """The query's or, for an assertion, the mapping's place."""
    places = (*(p.query_source for _, p in query.provenance), *(c.source for c in query.conditions))
    return next((place for place in places if place is not None), None)


class Implied:
    """What a query's comparisons of numbers and times imply, found when it is first needed."""

    def __init__(self, query: SpjQuery, catalog: Catalog) -> None:
        self._query, self._catalog = query, catalog
        self._bounds: dict[tuple[Node, Node], Limit] | None = None

    def says(self, goal: Condition) -> bool:
        """Whether a comparison is implied."""
        if not isinstance(goal, Compare) or goal.op is Op.NE:
            return False
        right: Node = None if isinstance(goal.right, Constant) else goal.right
        offset: object = goal.offset
        if isinstance(goal.right, Constant):
            offset = goal.right.value
        if isinstance(offset, (str, bool, float)):
            return False
        if self._bounds is None:
            self._bounds = bound_differences(self._query, self._catalog, domains=False) or {}
        number = Fraction(str(offset))
        below = self._within(goal.left, right, number, goal.op is Op.LT)
        above = self._within(right, goal.left, -number, goal.op is Op.GT)
        match goal.op:
            case Op.LT | Op.LE:
                return below
            case Op.GT | Op.GE:
                return above
            case Op.EQ:
                return below and above

    def _within(self, left: Node, right: Node, most: Fraction, strict: bool) -> bool:
        assert self._bounds is not None
        bound = self._bounds.get((left, right))
        if bound is None:
            return False
        return bound[0] < most or (bound[0] == most and (bound[1] or not strict))


def _chase(query: SpjQuery, wanted: set[str], catalog: Catalog) -> SpjQuery:
    """Adds the rows that declared references guarantee, two steps far: those of one column, which
    a run enforces."""
    for depth in range(2):
        said = {a for c in query.conditions for a in valued_attributes(c)}
        for owner in query.occurrences:
            for n, reference in enumerate(catalog.table(owner.table).references):
                alias = f"{owner.alias}->{n}"
                columns = [Attribute(owner.alias, c) for c in reference.columns]
                if (
                    len(columns) != 1
                    or owner.table not in catalog.streams
                    or (depth == 1 and reference.relation not in wanted)
                    or alias in {o.alias for o in query.occurrences}
                    or not set(columns) <= said
                ):
                    continue
                equal: tuple[Condition, ...] = tuple(
                    Compare(a, Op.EQ, Attribute(alias, t))
                    for a, t in zip(columns, reference.to, strict=True)
                )
                query = replace(
                    query,
                    occurrences=(*query.occurrences, Occurrence(alias, reference.relation)),
                    conditions=(*query.conditions, *equal),
                )
    return query


def _follows(
    goal: Condition, facts: list[Condition], said: set[Attribute], classes: EqualityClasses
) -> bool:
    if isinstance(goal, NotNull):
        return goal.attribute in said
    if isinstance(goal, OneOf):
        return any(
            (isinstance(f, OneOf) and f.attribute == goal.attribute and set(f.values) <= wanted)
            or (_about(f, goal.attribute) and isinstance(f, Compare) and _is_one(f, wanted))
            for wanted in (set(goal.values),)
            for f in facts
        )
    if isinstance(goal, IsNull):
        return any(isinstance(f, IsNull) and f.attribute == goal.attribute for f in facts)
    right = goal.right
    if isinstance(right, Constant):
        return any(_implies(f, goal.op, right) for f in facts if _about(f, goal.left))
    if goal.offset == 0 and goal.op in (Op.EQ, Op.LE, Op.GE) and classes.same(goal.left, right):
        return goal.left in said and right in said  # NULL is not equal to itself
    flipped = Compare(right, goal.op.flipped(), goal.left, -goal.offset)
    for fact in facts:
        if not isinstance(fact, Compare) or isinstance(fact.right, Constant):
            continue
        for wish in (goal, flipped):
            if (fact.left, fact.right) == (wish.left, wish.right) and _weaker(
                fact.op, _sign(fact.offset, wish.offset), wish.op
            ):
                return True
    return False


def _is_one(fact: Compare, values: set[Scalar]) -> bool:
    """Whether it equates with one of some constants."""
    assert isinstance(fact.right, Constant)
    return fact.op is Op.EQ and fact.right.value in values


def _weaker(op: Op, gap: int, wish: Op) -> bool:
    """Whether `d op k + gap` implies `d wish k`, of which the sign of `gap` decides."""
    zero, below, above = gap == 0, gap < 0, gap > 0
    match wish:
        case Op.LE:
            return op in (Op.LE, Op.LT, Op.EQ) and (zero or below)
        case Op.LT:
            return (op in (Op.LE, Op.EQ) and below) or (op is Op.LT and (zero or below))
        case Op.GE:
            return op in (Op.GE, Op.GT, Op.EQ) and (zero or above)
        case Op.GT:
            return (op in (Op.GE, Op.EQ) and above) or (op is Op.GT and (zero or above))
        case Op.EQ:
            return op is Op.EQ and zero
        case Op.NE:
            return (op in (Op.NE, Op.LT, Op.GT) and zero) or (op is Op.EQ and not zero)


def _about(fact: Condition, attribute: Attribute) -> bool:
    return isinstance(fact, Compare) and fact.left == attribute and isinstance(fact.right, Constant)


def _implies(fact: Condition, wish: Op, constant: Constant) -> bool:
    assert isinstance(fact, Compare)
    assert isinstance(fact.right, Constant)
    a, b = fact.right.value, constant.value
    if isinstance(a, (str, bool)) or isinstance(b, (str, bool)):
        if fact.op is Op.EQ:
            return compare_scalars(a, wish, b)
        return fact.op is wish and a == b
    return _weaker(fact.op, _sign(a, b), wish)


def _sign(a: Scalar, b: Scalar) -> int:
    """Of `a - b`; a double is the shortest decimal that names it."""
    if isinstance(a, float) or isinstance(b, float):
        a, b = Decimal(str(a)), Decimal(str(b))
    assert not isinstance(a, str)
    assert not isinstance(b, str)
    return (a > b) - (a < b)
