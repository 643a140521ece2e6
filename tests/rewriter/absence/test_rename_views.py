"""Views of one name that differ are told apart where queries become one."""

from dataclasses import replace
from pathlib import Path

from ontoweir.rewriter.absence.rename_views import part_views
from ontoweir.rewriter.model.spj import SpjUnion
from tests.rewriter.views.view_project import open_project, triples_map

MAPS = triples_map("S", "s", "http://e/{id}", ":C") + triples_map("U", "u", "http://e/{id}", ":C")


def compile_members(folder: Path) -> SpjUnion:
    return open_project(folder, MAPS, "SELECT ?x { GRAPH ?t { ?x a :C } }").compile("q").union


def test_views_that_are_the_same_keep_their_name(tmp_path: Path) -> None:
    union = compile_members(tmp_path)
    assert union.views
    assert part_views([union, union]) == (union, union)


def test_others_have_another_one(tmp_path: Path) -> None:
    union = compile_members(tmp_path)
    (view,) = union.views
    other = replace(union, views=(replace(view, why="something else"),))
    first, second, third = part_views([union, other, union])
    assert first == third == union
    assert [v.name for v in second.views] == [f"{view.name}_1"]
    assert {o.table for q in second.disjuncts for o in q.occurrences} >= {f"{view.name}_1"}
    assert view.name not in {o.table for q in second.disjuncts for o in q.occurrences}
