"""What must differ in the copies of a match: `first - second != limit`."""

from fractions import Fraction
from itertools import combinations

from ontoweir.checker.model.normal_form import Kind, NormalForm
from ontoweir.checker.model.solve_differences import Edge
from ontoweir.checker.model.units import Units
from ontoweir.checker.witness.layout.copies import Copies, Spread
from ontoweir.rewriter.model.spj import Attribute, Compare, Occurrence, Op


def constrain_disequalities(copies: Copies, spread: Spread) -> list[Edge]:
    """Every difference that must not be, of every copy."""
    form, time, size = copies.form, copies.time, copies.size
    edges = _unequal(copies)
    if spread is Spread.ROWS:
        edges += _several_rows(copies)
    if spread is Spread.ROLES:
        edges += _roles(copies)
        for one, two in combinations(form.members, 2):
            if one.stream == two.stream:  # more of them than a timestamp may have
                pairs = {(time(one.index, n), time(two.index, n)) for n in range(size)}
                edges.extend((*pair, 0) for pair in sorted(pairs) if pair[0] != pair[1])
    for d in form.time_differences:
        pairs = {(time(d.left, copy), time(d.right, copy)) for copy in range(size)}
        edges.extend((left, right, d.steps) for left, right in sorted(pairs))
    return edges


def _unequal(copies: Copies) -> list[Edge]:
    """Every `first - second != limit` that the selection asks for, of every copy."""
    form, val = copies.form, copies.value
    edges: dict[Edge, None] = {}
    for c in form.query.conditions:
        if not isinstance(c, Compare) or c.op is not Op.NE or c.left not in form.class_of:
            continue
        x = form.classes[form.class_of[c.left]]
        shift = -dict(x.attributes)[c.left]
        for copy in range(copies.size):
            if isinstance(c.right, Attribute):
                y = form.classes[form.class_of[c.right]]
                offset = Fraction(c.offset) * form.unit_of(x.kind) + dict(y.attributes)[c.right]
                edges[(val(x.index, copy), val(y.index, copy), shift + offset)] = None
            elif x.kind is not Kind.STRING:
                number = Units(form.unit, {}, form.floats).value(c.right.value, x.kind)
                edges[(val(x.index, copy), ("zero",), shift + number)] = None
    return list(edges)


def _several_rows(copies: Copies) -> list[Edge]:
    """Occurrences of one static relation are several rows, so that their keys differ."""
    form, val = copies.form, copies.value
    edges: dict[Edge, None] = {}
    for one, two in combinations((o for m in form.members for o in m.statics), 2):
        keys = copies.catalog.relations[one.table].keys if one.table == two.table else ()
        for key in keys:
            pairs = [(_place(form, one, c), _place(form, two, c)) for c in key]
            told = [(x, y) for x, y in pairs if x and y and x[0] != y[0]]
            for (x, shift), (y, more) in told[:1]:
                for copy in range(copies.size):
                    edges[(val(x, copy), val(y, copy), more - shift)] = None
    return list(edges)


def _place(form: NormalForm, row: Occurrence, column: str) -> tuple[int, int | Fraction] | None:
    """The class of a column of a row, and how much more the column is (None: it has none)."""
    attribute = Attribute(row.alias, column)
    index = form.class_of.get(attribute)
    return None if index is None else (index, dict(form.classes[index].attributes)[attribute])


def _roles(copies: Copies) -> list[Edge]:
    """A value that tells copies apart is none that another occurrence of the stream has in that
    column, in any copy: whose tuple would otherwise do for it."""
    form, val, size = copies.form, copies.value, copies.size
    streams = {m.alias: m.stream for m in form.members}
    edges: dict[Edge, None] = {}
    for index, _ in copies.layout.chains:
        for a, shift in form.classes[index].attributes:
            for other in form.classes:
                for b, more in other.attributes:
                    if other.index == index or a.column != b.column or a.alias == b.alias:
                        continue
                    if streams.get(a.alias, "") != streams.get(b.alias):
                        continue
                    for one in range(size):
                        for copy in range(size):
                            pair = val(index, one), val(other.index, copy)
                            edges[(*pair, more - shift)] = None
    return list(edges)
