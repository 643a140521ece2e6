"""Which keys say that the rows of a triples map make no triple twice; and none where one may."""

from pathlib import Path

import pytest

from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.project.project import load_project
from ontoweir.rewriter.tmappings.instantiate_assertion import instantiate_assertion
from ontoweir.rewriter.views.find_key import find_key
from tests.rewriter.views.view_project import open_project, triples_map

KEYED = {
    "the key of a stream, with the time": (
        ("s", "http://e/{id}/{n}", ":C"),
        ("s (id, n, ts)",),
    ),
    "a key shared out over subject and object": (
        ("s", "http://e/{id}", ":p n"),
        ("s (id, n, ts)",),
    ),
    "a column that a constant fixes": (
        ("SELECT id FROM s WHERE n = 3", "http://e/{id}", ":C"),
        ("s (id, n, ts)",),
    ),
    "a column equal to one that is shown": (
        ("SELECT id FROM s WHERE n = id", "http://e/{id}", ":C"),
        ("s (id, n, ts)",),
    ),
    "a row of a relation that the row determines": (
        ("SELECT s.id, s.n, r.c FROM s JOIN r ON s.n = r.id", "http://e/{id}/{n}", ":p c"),
        ("s (id, n, ts)", "r (id)"),
    ),
    "a column that a determined row has, as the key of another": (
        (
            "SELECT u.id, r.c FROM u JOIN r x ON u.n = x.id JOIN r ON x.k = r.id",
            "http://e/{id}",
            ":C",
        ),
        ("u (id, ts)", "r (id)"),
    ),
    "numbers apart by a letter": (
        ("s", "http://e/{id}x{n}", ":C"),
        ("s (id, n, ts)",),
    ),
}
NOT_KEYED = {
    "half a key": ("s", "http://e/{id}", ":C"),
    "a table without keys": ("w", "http://e/{id}/{k}", ":p c"),
    "a join that repeats rows": (
        "SELECT s.id, s.n FROM s JOIN w ON s.n = w.id",
        "http://e/{id}/{n}",
        ":C",
    ),
    "the key of the joined row alone": (
        "SELECT r.id FROM r JOIN w ON w.k = r.id",
        "http://e/{id}",
        ":C",
    ),
    "a range fixes nothing": ("SELECT id FROM s WHERE n > 3", "http://e/{id}", ":C"),
    "numbers side by side": ("s", "http://e/{id}{n}", ":C"),
    "numbers apart by a digit": ("s", "http://e/{id}0{n}", ":C"),
}


@pytest.mark.parametrize(("given", "keys"), KEYED.values(), ids=KEYED)
def test_a_key_is_found(given: tuple[str, ...], keys: tuple[str, ...], tmp_path: Path) -> None:
    assert find(tmp_path, *given) == keys


@pytest.mark.parametrize("given", NOT_KEYED.values(), ids=NOT_KEYED)
def test_no_key_is_found(given: tuple[str, ...], tmp_path: Path) -> None:
    assert find(tmp_path, *given) is None


def find(folder: Path, table: str, subject: str, *more: str) -> tuple[str, ...] | None:
    """The keys of the only assertion of a triples map."""
    open_project(folder, triples_map("T", table, subject, *more), "SELECT ?x { ?x a :C }")
    catalog = load_project(folder, environ={}).catalog
    (assertion,) = load_mappings([folder / "m.ttl"], catalog).assertions
    return find_key(instantiate_assertion(assertion, 1, catalog), catalog)
