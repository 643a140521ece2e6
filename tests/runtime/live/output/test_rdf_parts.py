"""Live answers in files of RDF: encoded alike each time, so that they are found again."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyoxigraph as ox
import pytest

from ontoweir.errors import UsageError
from ontoweir.runtime.live.checkpoint.commit_record import PartsMark
from ontoweir.runtime.live.output.bind_sink import bind_sink
from ontoweir.runtime.live.output.check_parts import check_parts
from ontoweir.runtime.live.output.list_parts import open_parts
from ontoweir.runtime.live.output.sinks.sinks import make_sink
from ontoweir.runtime.live.output.write_parts import PartFolder, PartWriter
from ontoweir.runtime.rdf.encode_rows import ANSWER
from ontoweir.runtime.rdf.find_terms import AnswerTerms, RdfFormat, TermKind

NEW = PartsMark()
TERMS = AnswerTerms("q", {"it": frozenset((TermKind("iri"),))})


def _rows(number: int) -> pa.Table:
    at = pa.array([1_000_000 * number], pa.timestamp("us"))
    return pa.table({"it": [f"http://x/{number}"], "at": at})


def _open(folder: Path, mark: PartsMark = NEW) -> PartWriter:
    parts = open_parts(folder, mark, None)
    return PartWriter("me", parts, {"answers": folder / "out"}, terms={"q": TERMS})


@pytest.mark.parametrize("form", ["srj", "nq"])
def test_a_part_that_is_gone_is_written_again(tmp_path: Path, form: RdfFormat) -> None:
    writer, folder = _open(tmp_path), PartFolder("answers", "q", form)
    for number in (1, 2):
        writer.put("answers", "q", number, _rows(number), form)
    writer = _open(tmp_path, writer.parts.mark())
    files = sorted((tmp_path / "out" / "q").glob(f"part-*.{form}"))
    assert len(files) == 2
    before = files[0].read_bytes()
    assert b"http://x/1" in before
    files[0].unlink()
    check_parts(writer, [folder], 2, lambda part: _rows(part.batch), may_be_gone=False)
    assert files[0].read_bytes() == before
    files[0].write_bytes(before.replace(b"http://x/1", b"http://x/9"))
    with pytest.raises(UsageError, match="is not what was published"):
        check_parts(writer, [folder], 2, lambda part: None, may_be_gone=False)


def test_files_can_be_put_together(tmp_path: Path) -> None:
    writer = _open(tmp_path)
    for number in (1, 2):
        writer.put("answers", "q", number, _rows(number), "nq")
    text = b"".join(f.read_bytes() for f in sorted((tmp_path / "out" / "q").glob("part-*.nq")))
    quads = list(ox.parse(text, format=ox.RdfFormat.N_QUADS))
    subjects = {q.subject for q in quads if q.predicate.value == f"{ANSWER}it"}
    assert (len(subjects), len(quads)) == (2, 4)


@pytest.mark.parametrize("name", ["srj", "nq", "jsonl"])
def test_terms_of_several_kinds_are_refused(tmp_path: Path, name: str) -> None:
    kinds = frozenset((TermKind("iri"), TermKind("literal")))
    query: Any = type("Made", (), {})()
    query.terms, query.schema = AnswerTerms("q", {"it": kinds}), _rows(1).schema
    sink = make_sink(name, tmp_path, {})
    if name == "jsonl":
        bind_sink(sink, query)
        return
    with pytest.raises(UsageError, match="the answers of q cannot be written as"):
        bind_sink(sink, query)
