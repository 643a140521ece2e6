"""Matches whose IRIs begin differently are not joined, and no others are left out."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontoweir.cli import main
from ontoweir.mappings.model.catalog import Catalog, Column, DataSource, Stream, StringType
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.query import Variable
from ontoweir.rewriter.model.spj import Attribute, IriOutput, Occurrence
from ontoweir.rewriter.tmappings.may_meet import fixed_ends
from ontoweir.rewriter.tmappings.unify_outputs import unify_outputs
from ontoweir.rewriter.unfold import match_stars
from ontoweir.rewriter.unfold.match_atoms import Match

TEXTS = st.text("ab/", max_size=4)


@given(TEXTS, TEXTS)
def test_iris_that_begin_differently_are_never_equal(left: str, right: str) -> None:
    one, other = (
        IriOutput((f"http://x/{text}", Attribute("t", "k"), "/z" * n))
        for n, text in enumerate((left, right), 1)
    )
    known = Match(bindings={Variable("x"): other})
    alike = match_stars._may_fit(known, Variable("x"), fixed_ends(one.parts))
    assert alike == (left.startswith(right) or right.startswith(left))
    if not alike:
        source = DataSource("parquet", "-")
        table = Stream("t", source, "ts", 1, 9, (Column("k", StringType()),))
        types = Types(Catalog({"t": table}, {}, "-"), (Occurrence("t", "t"),))
        assert unify_outputs(one, other, types, None) is None


def _write(folder: Path, count: int) -> None:
    """So many streams of one class, with IRIs of their own; those of the last two are the same."""
    toml = ['[project]\nontology = ["o.ttl"]\nmappings = ["m.ttl"]\n']
    maps = ["@prefix rr: <http://www.w3.org/ns/r2rml#> .\n@base <http://x/> .\n"]
    for n in range(count):
        toml.append(
            f'[streams.s{n}]\nsource = {{ format = "csv", path = "s{n}.csv" }}\n'
            'timestamp = { column = "ts", unit = "1 second" }\nmax_per_timestamp = 2\n'
            'columns = { id = { type = "int", min = 0, max = 9 }, v = "int" }\n'
        )
        maps.append(
            f'<M{n}> a rr:TriplesMap ; rr:logicalTable [ rr:tableName "s{n}" ] ; rr:subjectMap '
            f'[ rr:template "http://x/{min(n, count - 2)}/{{id}}" ; rr:class <Obs> ] .\n'
        )
    (folder / "ontoweir.toml").write_text("".join(toml))
    (folder / "m.ttl").write_text("".join(maps))
    (folder / "o.ttl").write_text("<http://x/Obs> a <http://www.w3.org/2002/07/owl#Class> .")


def test_few_pairs_of_many_streams_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path, 30)
    join, made = match_stars._join, []

    def note(*given: object) -> object:
        made.append(join(*given))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr(match_stars, "_join", note)
    asked = (
        "SELECT ?a { GRAPH ?t { ?a a <http://x/Obs> } GRAPH ?u { ?a a <http://x/Obs> } "
        "FILTER(?t < ?u) }"
    )
    main(["check", str(tmp_path), asked])
    assert "bounded" in capsys.readouterr().out
    assert sum(match is not None for match in made) >= 30
    assert len(made) < 30 * 30
