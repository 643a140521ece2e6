"""Copies of a match, and the variables that stand for their values and times."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from ontoweir.checker.model.normal_form import NormalForm
from ontoweir.checker.model.solve_differences import Var
from ontoweir.checker.witness.layout.plan_layouts import Layout, is_single
from ontoweir.mappings.model.catalog import Catalog
from ontoweir.rewriter.model.spj import Attribute


class Spread(StrEnum):
    """Which values of a layout are kept apart, although the query does not ask for it: those of
    key columns, none, or of a stream that occurs several times those of the occurrences. Or those
    of keys, also of a static relation that occurs several times in a match; or where each column
    that a rule closes has one value all the time, which stays open."""

    KEYS = "keys"
    ROWS = "rows"
    NONE = "none"
    ROLES = "roles"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Copies:
    """`size` copies of a match of a disjunct, as a layout has them.

    `shared`: classes that have one value in all copies; `folded`: those of them whose value is
    another in the anchor; `shown`: classes that an answer shows, which in a layout that comes
    `again` have in its second half the values of the first; `open_steps`: how many steps are left
    before each copy, for rows that hold a value open.
    """

    form: NormalForm
    catalog: Catalog
    layout: Layout
    size: int
    shared: frozenset[int]
    folded: frozenset[int]
    shown: frozenset[int]
    open_steps: int

    @property
    def half(self) -> int:
        """How many copies are different."""
        return self.size // 2 if self.layout.again else self.size

    def value(self, index: int, copy: int) -> Var:
        """The value of a class in a copy."""
        if copy == 0 and index in self.folded:
            return ("v", index, "anchor")
        if self.layout.again and index in self.shown:
            copy %= self.half
        return ("v", index) if index in self.shared else ("v", index, copy)

    def time(self, member: int, copy: int) -> Var:
        """The timestamp of a member in a copy."""
        return ("t", member, 0 if is_single(self.form, self.layout, member) else copy)

    def gap(self, otherwise: int, *values: int) -> int | Fraction:
        """How far apart values of classes are put: in dense ones so near that there is room."""
        if all(self.form.classes[v].grain == 0 for v in values):
            return Fraction(self.form.unit, 64 << self.size.bit_length())
        return otherwise


def make_copies(
    form: NormalForm, catalog: Catalog, layout: Layout, size: int, spread: Spread
) -> Copies:
    """So many copies of a match."""
    shared = frozenset(c.index for c in form.classes if c.domain.finite)
    if spread is Spread.OPEN:
        shared |= _list_closing(form, catalog)
    folds = frozenset(f.value for f in form.folds or ())
    shown = frozenset(c.index for c in form.classes if c.projected) | folds
    folded = folds & shared if layout.anchored else frozenset[int]()
    steps = int(spread is Spread.OPEN)
    return Copies(form, catalog, layout, size, shared, folded, shown, steps)


def _list_closing(form: NormalForm, catalog: Catalog) -> frozenset[int]:
    """The classes of columns that rules close."""
    columns = {
        Attribute(m.alias, name)
        for m in form.members
        for rule in catalog.streams[m.stream].closing
        if rule.span_us is None
        for name in rule.columns
    }
    return frozenset(index for a in columns if (index := form.class_of.get(a)) is not None)
