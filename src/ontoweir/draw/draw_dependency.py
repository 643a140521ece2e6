"""The dependency graph of a disjunct: its streams, the earlier above, and their comparisons."""

from itertools import combinations

from ontoweir.checker.model.normal_form import Member, NormalForm, ValueClass
from ontoweir.draw.draw_layout import Edge, GraphNode, Picture, lay_out_graph


def draw_dependency(form: NormalForm) -> Picture:
    """Streams as nodes; an edge for each pair that is compared, with the lag between them
    ([S] after Def. 7; lags: theory §7). Red: a comparison of unbounded values over an unbounded
    lag."""
    nodes = [
        GraphNode(
            m.alias,
            (
                m.alias,
                f"stream {m.stream}"
                + (", ends" if m.last is not None else ", few rows" if m.finite else ""),
                *(f"+ {s.table} {s.alias}" for s in m.statics),
            ),
        )
        for m in form.members
    ]
    edges = []
    for i, j in combinations(range(len(form.members)), 2):
        ties, unbounded = _ties(form, i, j)
        ordered = any({t.later, t.earlier} == {i, j} for t in form.times)
        if not ties and not ordered:
            continue
        first, second = (j, i) if _before(form, j, i) else (i, j)
        before = _before(form, first, second)
        edges.append(
            Edge(
                form.members[first].alias,
                form.members[second].alias,
                (_lag(form, first, second), *ties),
                "unbounded" if unbounded else "",
                ranked=before,
                arrow=before,
            )
        )
    return lay_out_graph(nodes, edges)


def _before(form: NormalForm, i: int, j: int) -> bool:
    lag = form.lag[j][i]
    return lag is not None and lag < 0


def _lag(form: NormalForm, i: int, j: int) -> str:
    """How much later j comes than i, in steps."""
    longest, back = form.lag[i][j], form.lag[j][i]
    if longest == back == 0:
        return "at the same time"
    if longest is None and back is None:
        return "any time apart"
    least = "−∞" if back is None else str(-back)
    return f"later by {least}..{'∞' if longest is None else longest} steps"


def _ties(form: NormalForm, i: int, j: int) -> tuple[list[str], bool]:
    """What two members compare, and whether some of it is unbounded over an unbounded lag."""
    apart = form.has_unbounded_lag(i, j) or form.has_unbounded_lag(j, i)
    ties: list[str] = []
    unbounded = False
    for group in form.classes:
        if {i, j} <= group.members:
            ties.append(f"{_name(form, group, i)} = {_name(form, group, j)}")
            unbounded |= apart and not group.domain.finite
    for q in form.inequalities:
        x, y = form.classes[q.x], form.classes[q.y]
        for near, far in ((i, j), (j, i)):
            if near in x.members and far in y.members:
                op = "<" if q.strict or q.limit < 0 else "≤"
                ties.append(f"{_name(form, x, near)} {op} {_name(form, y, far)}")
                unbounded |= apart and not q.clips
    for d in form.disequalities:
        x, y = form.classes[d.x], form.classes[d.y]
        for near, far in ((i, j), (j, i)):
            if near in x.members and far in y.members:
                ties.append(f"{_name(form, x, near)} ≠ {_name(form, y, far)}")
    return list(dict.fromkeys(ties)), unbounded


def _name(form: NormalForm, group: ValueClass, member: int) -> str:
    """The attribute by which a member holds a class; the member's own without its alias."""
    owner = form.members[member]
    own = [a for a, _ in group.attributes if a.alias == owner.alias]
    if own:
        return own[0].column
    folded = {s.alias for s in owner.statics}
    return str(next(a for a, _ in group.attributes if a.alias in folded))


def _end(member: Member) -> str:
    """Whether, and why, a stream has finitely many tuples."""
    if member.last is not None:
        return ", ends"
    return ", few rows" if member.finite else ""
