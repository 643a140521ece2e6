"""Value classes: what the selection makes equal, and the values it can take ([S] Def. 5)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from ontoweir.checker.model.constraint_graph import HIGH_NODE, LOW_NODE, ZERO_NODE, ConstraintGraph
from ontoweir.checker.model.declarations import domain_declaration
from ontoweir.checker.model.difference_bounds import DifferenceBounds
from ontoweir.checker.model.normal_form import Domain, Kind, Member, ValueClass
from ontoweir.checker.model.units import kind_of
from ontoweir.checker.sizes.count_computed import count_computed
from ontoweir.checker.sizes.size_relation import size_relation
from ontoweir.mappings.expressions.domains.derive_domain import count_values
from ontoweir.mappings.model.catalog import Relation, Scalar, StringType
from ontoweir.rewriter.algebra.equality_classes import optional_attributes
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, OneOf, Op, output_attributes


def _equal_shift(bounds: DifferenceBounds, a: int, b: int) -> int | Fraction | None:
    """c with a = b + c, if that is implied."""
    up, down = bounds.limit(a, b), bounds.limit(b, a)
    if up is None or down is None or up.strict or down.strict or up.value != -down.value:
        return None
    return up.value


def find_classes(
    work: ConstraintGraph,
    owner: Mapping[str, int],
    bounds: DifferenceBounds,
    members: tuple[Member, ...],
) -> tuple[tuple[ValueClass, ...], dict[Attribute, int]]:
    """The value classes of a disjunct, and the class of every attribute ([S] Def. 4, 5)."""
    projected = {a for _, o in work.query.outputs for a in output_attributes(o)}
    optional = optional_attributes(work.query)
    kinds = {a: kind_of(column.type) for a, column in work.columns.items()}
    families = {a: _family(kind) for a, kind in kinds.items()}
    groups: list[list[tuple[Attribute, int | Fraction]]] = []
    for attribute, node in work.values.items():
        for group in groups:
            head = group[0][0]
            if {attribute, head} & optional:  # NULL equals nothing
                continue
            if families[attribute] is not families[head]:
                continue
            shift = _equal_shift(bounds, node, work.values[head])
            if shift is not None and (shift == 0 or kinds[attribute] is not Kind.STRING):
                group.append((attribute, shift))
                break
        else:
            groups.append([(attribute, 0)])
    groups = [_headed(work, group) for group in groups]
    classes: list[ValueClass] = []
    class_of: dict[Attribute, int] = {}
    for index, group in enumerate(groups):
        inside = {kinds[a] for a, _ in group}
        kind = Kind.FLOAT if Kind.FLOAT in inside else next(iter(inside))
        for attribute, _ in group:
            class_of[attribute] = index
        domain = _domain(work, owner, bounds, members, group)
        null = group[0][0] in optional
        classes.append(
            ValueClass(
                index=index,
                kind=kind,
                grain=max(work.grains[work.values[a]] for a, _ in group),
                attributes=tuple(group),
                members=frozenset(owner[a.alias] for a, _ in group),
                domain=_add_null(domain, group[0][0]) if null else domain,
                projected=any(a in projected for a, _ in group),
                optional=null,
            )
        )
    return tuple(classes), class_of


def _add_null(domain: Domain, attribute: Attribute) -> Domain:
    """A domain, of which NULL is one more value."""
    if not domain.finite:
        return domain
    size = None if domain.size is None else domain.size + 1
    shown = f"|{attribute}, NULL|" + ("" if size is None else f" = {size:,}")
    return replace(domain, size=size, formula=shown)


def _headed(
    work: ConstraintGraph, group: list[tuple[Attribute, int | Fraction]]
) -> list[tuple[Attribute, int | Fraction]]:
    """A group whose attributes differ by constants, with one first whose values are known: only
    attributes without a shift to it lend the class their values."""
    if all(shift == 0 for _, shift in group):
        return group

    def is_known(attribute: Attribute) -> bool:
        table, column = work.tables[attribute.alias], work.columns[attribute]
        if isinstance(table, Relation):
            return True
        return column.enum is not None or any(True for _ in work.references(table, column))

    head, shift = next(((a, s) for a, s in group if is_known(a)), group[0])
    rest = [(a, s - shift) for a, s in group if a != head]
    return [(head, 0), *rest]


def _family(kind: Kind) -> Kind:
    """What values of a kind can be equal to: floats are numbers."""
    return Kind.NUMBER if kind is Kind.FLOAT else kind


def _domain(
    work: ConstraintGraph,
    owner: Mapping[str, int],
    bounds: DifferenceBounds,
    members: tuple[Member, ...],
    group: list[tuple[Attribute, int | Fraction]],
) -> Domain:
    """The values a class can take; the smallest known of what the schema, data and P⁺ say.

    Only attributes equal to the class's value without a shift lend it their enumerations and
    references; ranges count for all.
    """
    everyone = [a for a, _ in group]
    attributes = [a for a, shift in group if shift == 0]
    head = work.values[attributes[0]]
    grain = max(work.grains[work.values[a]] for a in everyone)
    discrete = any(work.grains[work.values[a]] > 0 for a in everyone)
    up, down = bounds.limit(head, ZERO_NODE), bounds.limit(ZERO_NODE, head)
    low = None if down is None else -down.value
    high = None if up is None else up.value
    sizes: list[tuple[int | None, str]] = []
    values: set[Scalar] | None = None
    within: dict[tuple[str, str], None] = {}
    if low is not None and high is not None and low == high:
        sizes.append((1, "1"))
    if discrete and kind_of(work.columns[attributes[0]].type) is not Kind.STRING:
        if low is not None and high is not None:
            size = max(int((high - low) // grain) + 1, 0)
            sizes.append((size, f"|{attributes[0]}| = {size}"))
        elif _reaches(bounds, head):
            sizes.append((None, f"|{attributes[0]}|"))
    for attribute in attributes:
        for constant in _constants(work, attribute):
            values = {constant} if values is None else values & {constant}
        for listed in _lists(work, attribute):
            values = set(listed) if values is None else values & set(listed)
        column, table = work.columns[attribute], work.tables[attribute.alias]
        if isinstance(table, Relation):
            sizes.append(size_relation(work, table, column))
            within[(table.name, column.name)] = None
            continue
        if column.enum is not None and work.use(domain_declaration(table, column)):
            values = set(column.enum) if values is None else values & set(column.enum)
        for relation, target in work.references(table, column):
            sizes.append(size_relation(work, relation, target))
            within[(relation.name, target.name)] = None
    rounded = [count_values(work.columns[a].expression) for a in everyone]
    if (most := max((c for c in rounded if c is not None), default=None)) and None not in rounded:
        # of an attribute without a count, a run would not know which of its values are others
        sizes.append((most, f"|{attributes[0]}| = {most:,}"))
    if values is not None:
        sizes.append((len(values), f"|{attributes[0]}| = {len(values)}"))
    holders = {owner[a.alias] for a in everyone}
    awaited = not sizes  # its values are not known beforehand
    counts = [count_computed(work, a) for a in everyone]
    computed = [c for c in counts if c is not None]
    if len(computed) == len(counts):
        sizes.append(max(computed, key=lambda c: (c[0] is None, c[0] or 0)))
    own = {owner[a.alias] for a in everyone if a.alias == members[owner[a.alias]].alias}
    if own == holders and all(members[i].finite for i in holders):
        dated = [_finite_domain(work, members[i]) for i in sorted(holders)]
        # a table may hold the values of any of them
        sizes.append(max(dated, key=lambda c: (c[0] is None, c[0] or 0)))
    if not sizes:
        return Domain(False, None, "∞", low, high)
    known = [(size, text) for size, text in sizes if size is not None]
    size_, text = min(known, key=lambda f: f[0]) if known else sizes[0]
    allowed = None if values is None else tuple(sorted(values, key=str))
    return Domain(True, size_, text, low, high, allowed, tuple(within), awaited)


def _constants(work: ConstraintGraph, attribute: Attribute) -> Iterable[Scalar]:
    """The string constants an attribute is made equal to."""
    for condition in work.query.conditions:
        if (
            isinstance(condition, Compare)
            and condition.op is Op.EQ
            and condition.left == attribute
            and isinstance(condition.right, Constant)
            and isinstance(condition.right.value, str)
            and isinstance(work.columns[attribute].type, StringType)
        ):
            yield condition.right.value


def _lists(work: ConstraintGraph, attribute: Attribute) -> Iterable[tuple[Scalar, ...]]:
    """The lists of constants that the selection has for an attribute."""
    for condition in work.query.conditions:
        if isinstance(condition, OneOf) and condition.attribute == attribute:
            yield condition.values


def _reaches(bounds: DifferenceBounds, node: int) -> bool:
    """Whether a node has limits on both sides, by constants or by static values."""
    above = bounds.limit(node, ZERO_NODE) or bounds.limit(node, HIGH_NODE)
    below = bounds.limit(ZERO_NODE, node) or bounds.limit(LOW_NODE, node)
    return above is not None and below is not None


def _finite_domain(work: ConstraintGraph, member: Member) -> tuple[int | None, str]:
    counts = [] if member.total is None else [member.total]
    if member.last is not None:
        counts.append(_dated_domain(work, member))
    return min(counts, key=lambda c: (c[0] is None, c[0] or 0))


def _dated_domain(work: ConstraintGraph, member: Member) -> tuple[int | None, str]:
    limit = work.catalog.streams[member.stream].max_per_timestamp
    if limit is not None and member.first is not None and member.last is not None:
        steps = member.timestamps(member.last - member.first + 1)
        return limit * steps, f"R({member.stream}) = {limit} · {steps} steps of {member.alias}"
    return None, f"|{member.alias}| (finite stream)"
