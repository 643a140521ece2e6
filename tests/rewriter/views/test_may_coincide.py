"""Which triples maps never make one triple: by template, constants, domains, keys."""

from itertools import product
from pathlib import Path

import pytest

from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.project.project import load_project
from ontoweir.rewriter.views.make_sets import SetMaker
from ontoweir.rewriter.views.may_coincide import may_coincide
from tests.rewriter.views.view_project import open_project, triples_map

APART = {
    "templates that begin differently": (
        ("s", "http://e/a/{id}", ":C"),
        ("s", "http://e/b/{id}", ":C"),
    ),
    "templates that end differently": (
        ("s", "http://e/{id}/a", ":C"),
        ("s", "http://e/{id}/b", ":C"),
    ),
    "domains that do not meet": (("s", "http://e/{id}", ":C"), ("u", "http://e/{id}", ":C")),
    "constants of a column that is shown": (
        ("SELECT id, n FROM s WHERE n = 1", "http://e/{id}", ":p n"),
        ("SELECT id, n FROM s WHERE n = 2", "http://e/{id}", ":p n"),
    ),
    "constants of a column that a key determines": (
        ("SELECT id FROM r WHERE k = 1", "http://e/{id}", ":C"),
        ("SELECT id FROM r WHERE k = 2", "http://e/{id}", ":C"),
    ),
    "literals of different datatypes": (
        ("s", "http://e/{id}", ":p n"),
        ("s", "http://e/{id}", ":p a"),
    ),
}
TOGETHER = {
    "a template that ends as another one": (
        ("r", "http://e/{id}/a", ":C"),
        ("w", "http://e/{id}/a", ":C"),
    ),
    "one template": (("r", "http://e/{id}", ":C"), ("w", "http://e/{id}", ":C")),
    "a column of the key that is not shown": (
        ("SELECT id FROM s WHERE n = 1", "http://e/{id}", ":C"),
        ("SELECT id FROM s WHERE n = 2", "http://e/{id}", ":C"),
    ),
    "constants without a key": (
        ("SELECT id FROM w WHERE k = 1", "http://e/{id}", ":C"),
        ("SELECT id FROM w WHERE k = 2", "http://e/{id}", ":C"),
    ),
    "conditions that overlap": (
        ("SELECT id FROM r WHERE k < 3", "http://e/{id}", ":C"),
        ("SELECT id FROM r WHERE k > 1", "http://e/{id}", ":C"),
    ),
    "a template that cannot be read back": (
        ("s", "http://e/{id}{n}", ":C"),
        ("s", "http://e/{n}/{id}", ":C"),
    ),
}


@pytest.mark.parametrize("maps", APART.values(), ids=APART)
def test_they_make_no_triple_both(maps: tuple[tuple[str, ...], ...], tmp_path: Path) -> None:
    assert not meet(tmp_path, maps)


@pytest.mark.parametrize("maps", TOGETHER.values(), ids=TOGETHER)
def test_they_may_make_one_triple(maps: tuple[tuple[str, ...], ...], tmp_path: Path) -> None:
    assert meet(tmp_path, maps)


def meet(folder: Path, maps: tuple[tuple[str, ...], ...]) -> bool:
    """Whether two triples maps may make one triple; the same either way."""
    text = "".join(triples_map(f"T{n}", *given) for n, given in enumerate(maps))
    open_project(folder, text, "SELECT ?x { ?x a :C }")
    catalog = load_project(folder, environ={}).catalog
    first, second = load_mappings([folder / "m.ttl"], catalog).assertions
    found = may_coincide(first, second, catalog)
    assert found == may_coincide(second, first, catalog)
    return found


IRIS = (
    "http://e/{id}",
    "http://e/a{id}",
    "http://e/1{id}",
    "http://e/a/{id}",
    "http://e/b{id}",
    "http://f/{id}",
    "{id}",
)


def test_what_iris_begin_with_never_parts_what_may_coincide(tmp_path: Path) -> None:
    """Many assertions are compared by what their IRIs begin with, before all else."""
    maps = [triples_map(f"T{n}", "w", iri, ":C") for n, iri in enumerate(IRIS)]
    open_project(tmp_path, "".join(maps), "SELECT ?x { ?x a :C }")
    catalog = load_project(tmp_path, environ={}).catalog
    made = load_mappings([tmp_path / "m.ttl"], catalog).assertions
    sets, met = SetMaker(catalog), 0
    for one, other in product(made, repeat=2):
        assert sets.may_meet(one, other) == may_coincide(one, other, catalog)
        met += sets.may_meet(one, other)
    assert len(made) < met < len(made) ** 2
