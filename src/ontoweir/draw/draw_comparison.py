"""The comparison graph of a disjunct ([A] §5): its terms, the lesser above, and comparisons."""

from fractions import Fraction

from ontoweir.checker.model.constraint_graph import (
    DifferenceLimit,
    difference_limits,
    irredundant_limits,
)
from ontoweir.checker.model.difference_bounds import DifferenceBounds
from ontoweir.checker.model.normal_form import Kind, NormalForm, ValueClass
from ontoweir.checker.model.units import choose_units
from ontoweir.draw.draw_layout import Edge, GraphNode, Picture, lay_out_graph
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import Attribute, Compare, Constant, Op


def draw_comparison(form: NormalForm, catalog: Catalog) -> Picture | None:
    """Classes of equal columns and constants as nodes, comparisons as edges; what the others imply
    is dashed. MaxRef and MinRef stand at the unbounded columns whose greatest, or least, values
    other streams are compared with ([A] Def. 5.5, [S] Def. 9). None: nothing is compared.
    """
    units = choose_units(form.query, catalog)
    drawn: list[tuple[Edge, tuple[DifferenceLimit, ...]]] = []
    nodes: dict[str, GraphNode] = {}

    def term(group: ValueClass) -> str:
        nodes.setdefault(f"class {group.index}", _class_node(form, group))
        return f"class {group.index}"

    for c in form.query.conditions:
        if not isinstance(c, Compare) or c.left not in form.class_of:
            continue
        x = form.classes[form.class_of[c.left]]
        match c.right:
            case Constant(value=value):
                if x.kind is Kind.STRING and c.op not in (Op.EQ, Op.NE):
                    continue
                name = f"constant {value!r}"
                nodes.setdefault(name, GraphNode(name, (str(value),), "constant"))
                exact, right, shift = units.value(value, x.kind), 0, ""
            case Attribute():
                y = form.classes[form.class_of[c.right]]
                if x.index == y.index:
                    continue
                name, right = term(y), y.index + 1
                exact = Fraction(c.offset) * form.unit
                exact += dict(y.attributes)[c.right] - dict(x.attributes)[c.left]
                shift = "" if not c.offset else f" {c.offset:+}"
        op, first, second = c.op, term(x), name
        steps = tuple(difference_limits(x.index + 1, right, op, exact, c.source))
        if op in (Op.GT, Op.GE):
            op, first, second = op.flipped(), second, first
        sign = {Op.LT: "<", Op.LE: "≤", Op.EQ: "=", Op.NE: "≠"}[op] + shift
        ranked = op in (Op.LT, Op.LE)
        drawn.append((Edge(first, second, (sign,), "", ranked, ranked), steps))
    if not drawn:
        return None
    kept = _needed(form, [s for _, steps in drawn for s in steps])
    edges: dict[Edge, None] = {}
    for edge, steps in drawn:
        implied = bool(steps) and not any((s.left, s.right, s.limit) in kept for s in steps)
        style = "implied" if implied else ""
        edges[Edge(edge.first, edge.second, edge.lines, style, edge.ranked, edge.arrow)] = None
    return lay_out_graph(list(nodes.values()), list(edges))


def _needed(form: NormalForm, steps: list[DifferenceLimit]) -> set[tuple[int, int, object]]:
    """The limits that the others do not imply ([S] Def. 8)."""
    plain = [DifferenceLimit(s.left, s.right, s.limit, None) for s in steps]
    base = DifferenceBounds([1, *(c.grain for c in form.classes)])
    return {(s.left, s.right, s.limit) for s in irredundant_limits(base, plain)}


def _class_node(form: NormalForm, group: ValueClass) -> GraphNode:
    """A class: its columns, its domain, and the references it is in."""
    lines = [str(a) if n == 0 else f"= {a}" for n, (a, _) in enumerate(group.attributes)]
    size = group.domain.size
    known = group.domain.formula if size is None else f"{size:,} value{'' if size == 1 else 's'}"
    lines.append(known if group.domain.finite else "unbounded")
    joins = [q for q in form.inequalities if not q.clips and not group.domain.finite]
    owners = ", ".join(form.members[i].alias for i in sorted(group.members))
    if any(q.y == group.index for q in joins):
        lines.append(f"in MaxRef({owners})")
    if any(q.x == group.index for q in joins):
        lines.append(f"in MinRef({owners})")
    style = "finite" if group.domain.finite else "unbounded"
    return GraphNode(f"class {group.index}", tuple(lines), style)
