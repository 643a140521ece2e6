"""Templates that are told apart by how they begin and end never make one text."""

from itertools import product

from ontoweir.rewriter.model.spj import Attribute
from ontoweir.rewriter.tmappings.may_meet import (
    TextAtoms,
    differ_at_ends,
    fixed_ends,
    may_meet,
)

COLUMN = Attribute("s_1", "x")
PARTS: tuple[str | Attribute, ...] = ("", "a", "b", "ab", "ba", COLUMN)


def test_against_all_short_templates() -> None:
    """Each pair that the ends tell apart can make no text both, whatever values columns have."""
    templates = {tuple(part for part in parts if part != "") for parts in product(PARTS, repeat=3)}
    found = 0
    for one, other in product(sorted(templates, key=str), repeat=2):
        if differ_at_ends(fixed_ends(one), fixed_ends(other)):
            found += 1
            assert not may_meet(_atoms(one), _atoms(other)), (one, other)
    assert found > 1000


def test_twins() -> None:
    """Ends of which one is the other's, and templates that begin or end with a column."""
    assert differ_at_ends(fixed_ends(("a", COLUMN, "x")), fixed_ends(("a", COLUMN, "y")))
    assert not differ_at_ends(fixed_ends(("a", COLUMN, "x")), fixed_ends(("a", COLUMN, "yx")))
    assert not differ_at_ends(fixed_ends(("a", COLUMN)), fixed_ends(("a", COLUMN, "y")))
    assert not differ_at_ends(fixed_ends((COLUMN,)), fixed_ends(()))


def _atoms(parts: tuple[str | Attribute, ...]) -> TextAtoms:
    atoms: list[str | None] = []
    for part in parts:
        atoms += list(part) if isinstance(part, str) else [None]
    return tuple(atoms)
