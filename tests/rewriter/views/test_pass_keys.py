"""What is declared of tables holds of a view of several branches: keys and lags."""

from pathlib import Path

import pytest

from ontoweir.mappings.model.catalog import Stream
from ontoweir.rewriter.unfold import match_stars
from tests.rewriter.views.view_project import TOML, open_project, triples_map

QUERY = "SELECT ?x ?n { GRAPH ?t { ?x a :C ; :p ?n } GRAPH ?v { ?x a :C } FILTER(?v > ?t) }"
LAG = 'lags = [{ columns = ["id"], behind = "r0", to = ["id"], within = "%d minutes" }]\n'


def _view(folder: Path, monkeypatch: pytest.MonkeyPatch, toml: str, *more: str) -> Stream:
    """The view of the star of two streams."""
    monkeypatch.setattr(match_stars, "MAX_APART", 1)
    maps = "".join(triples_map(f"M{t}", t, "http://e/{id}", ":C", ":p n") for t in "su")
    compiled = open_project(folder, maps + "".join(more), QUERY, toml=toml).compile("q")
    (view,) = (v for v in compiled.union.views if len(v.branches) > 1 and len(v.table.columns) > 1)
    assert isinstance(view.table, Stream)
    return view.table


KEYED = TOML.replace('keys = [["id", "n", "ts"]]', 'keys = [["id", "ts"]]')


def test_a_key_passes_where_ranges_are_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The things of s are 1 to 9, those of u 20 to 30."""
    assert _view(tmp_path, monkeypatch, KEYED).keys == (("id", "ts"),)


def test_twin_ranges_that_overlap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml = KEYED.replace("min = 20, max = 30", "min = 9, max = 30")
    assert ("id", "ts") not in _view(tmp_path, monkeypatch, toml).keys


def test_twin_one_has_no_such_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ("id", "ts") not in _view(tmp_path, monkeypatch, TOML).keys


@pytest.mark.parametrize(("minutes", "within"), [((5, 15), 15), ((15, 5), 15), ((5, None), None)])
def test_lags_pass_as_the_longest(
    minutes: tuple[int, int | None],
    within: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    toml = KEYED
    for name, lag in zip("su", minutes, strict=True):
        if lag is not None:
            toml = toml.replace(f"[streams.{name}]\n", f"[streams.{name}]\n{LAG % lag}")
    toml += (
        '[streams.r0]\nsource = { format = "csv", path = "r0" }\n'
        'timestamp = { column = "ts", unit = "5 minutes" }\ncolumns = { id = "int" }\n'
    )
    lags = _view(tmp_path, monkeypatch, toml).lags
    assert [lag.within_us for lag in lags] == ([] if within is None else [within * 60_000_000])
