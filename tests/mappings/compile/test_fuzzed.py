"""Broken mappings and catalogs: a located error or success, never another exception."""

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from ontoweir.errors import OntoweirError
from ontoweir.mappings.compile.load_mappings import load_mappings
from ontoweir.mappings.model.assertion import ConstantMap
from ontoweir.mappings.r2rml.read_r2rml import read_r2rml
from ontoweir.project.project import load_project
from ontoweir.rewriter.model.spj import SpjUnion
from ontoweir.rewriter.sql.print_sql import print_sql
from ontoweir.rewriter.tmappings.instantiate_assertion import assertion_query
from ontoweir.rewriter.tmappings.select_graphs import select_graphs

SEEDS = {
    "traffic.r2rml.ttl": 100,
    "rich.r2rml.ttl": 140,
    "traffic.obda": 60,
    "rich.obda": 120,
    "ontoweir.toml": 80,
}
_TOKEN = re.compile(r'"""|"[^"\n]*"|<[^>\n]*>|[\w:.-]+|\s+|.', re.DOTALL)
_WORDS = [
    *[
        "",
        " ",
        ".",
        ";",
        ",",
        "]",
        "[",
        '"',
        '"""',
        "{",
        "}",
        "{{",
        "\\",
        "^^",
        "@",
        "@en",
        "<",
        ">",
    ],
    *["a", "_:b", "<>", "<http://[>", "rr:", "rr:column", "rr:template", "rr:constant", "rr:graph"],
    *["rr:termType rr:Literal", "rr:language", "rr:parentTriplesMap", "rr:sqlQuery", "rr:IRI"],
    *[
        "SELECT",
        "UNION",
        "OR",
        "NULL",
        "'",
        "||",
        "x.y",
        "-1",
        "1e999",
        "12345678901234567890",
        "é",
    ],
    *["\x00", "\ud7ff", "true", "[]", "[[]]", "{ }", "= =", "inf", "nan", "1979-05-27", "''", "()"],
    *["source", "target", "mappingId", "]]", "GRAPH", "<<", "{id", "decimal(99,99)", "timestamp"],
]
_SQL = [
    *["DISTINCT", "UNION ALL", "UNION", "EXCEPT", "JOIN sensor USING (id)", "LEFT JOIN", "ON"],
    *["IN (1, 2)", "IN ()", "IN (SELECT 1)", "BETWEEN 1 AND", "NOT", "IS NULL", "IS NOT NULL"],
    *["CAST(id AS STRING)", "CAST(id AS INT)", "CASE WHEN", "(SELECT 1)", "INTERVAL '1' DAY"],
    *["INTERVAL", "*", "t.*", "EXISTS", "LATERAL", "DATE '2014-99-99'", "TIMESTAMP 'x'", "/*"],
    *["--", ";", "GROUP BY id", "count(*)", "concat(", "concat()", "|| 'a'", "%", "1 = 1", "FALSE"],
    *["'it''s'", "'open", '\\"id\\"', "`id`", "x'00'", "0x1F", "1e400", "9" * 40, "-", "(", ")"],
    *["AS", "FROM", "WHERE", "VALUES (1)", "WITH x AS (SELECT 1)", "id.id.id.id", "@", "?", ":x"],
]
_SQL_WORD = re.compile(r"SELECT|FROM|WHERE|AND|OR|UNION|IN|AS|NOT|IS", re.IGNORECASE)
Mutation = Callable[[random.Random, list[str]], None]


def delete(draw: random.Random, tokens: list[str]) -> None:
    del tokens[draw.randrange(len(tokens))]


def duplicate(draw: random.Random, tokens: list[str]) -> None:
    place = draw.randrange(len(tokens))
    tokens.insert(place, tokens[place])


def swap(draw: random.Random, tokens: list[str]) -> None:
    a, b = draw.randrange(len(tokens)), draw.randrange(len(tokens))
    tokens[a], tokens[b] = tokens[b], tokens[a]


def replace(draw: random.Random, tokens: list[str]) -> None:
    tokens[draw.randrange(len(tokens))] = draw.choice(_WORDS)


def insert(draw: random.Random, tokens: list[str]) -> None:
    tokens.insert(draw.randrange(len(tokens)), draw.choice(_WORDS))


def truncate(draw: random.Random, tokens: list[str]) -> None:
    del tokens[draw.randrange(1, len(tokens)) :]


def exchange_word(draw: random.Random, tokens: list[str]) -> None:
    """One word or string becomes another one of the file: wrong columns, wrong types."""
    words = [n for n, t in enumerate(tokens) if re.fullmatch(r'\w+|".*"|<.*>|[\w:.-]+', t)]
    tokens[draw.choice(words)] = tokens[draw.choice(words)]


def write_sql(draw: random.Random, tokens: list[str]) -> None:
    """A piece of SQL beside one of SQL's words."""
    places = [n for n, t in enumerate(tokens) if _SQL_WORD.fullmatch(t)]
    if places:
        place = draw.choice(places) + draw.choice((0, 1, 2))
        tokens.insert(place, f" {draw.choice(_SQL)} ")


def rewrite_sql(draw: random.Random, tokens: list[str]) -> None:
    """One of SQL's words, or what follows it, becomes another piece of SQL."""
    places = [n for n, t in enumerate(tokens) if _SQL_WORD.fullmatch(t)]
    if places:
        place = min(draw.choice(places) + draw.choice((0, 2)), len(tokens) - 1)
        tokens[place] = draw.choice(_SQL)


def edit_character(draw: random.Random, tokens: list[str]) -> None:
    """A character inside a token goes, or another comes."""
    place = draw.randrange(len(tokens))
    text, at = tokens[place], draw.randrange(len(tokens[place]) + 1)
    tokens[place] = text[:at] + draw.choice(("", *"{}<>\\'\"\n\t;:#@^_.é")) + text[at + 1 :]


def move_lines(draw: random.Random, tokens: list[str]) -> None:
    """A line goes, comes twice, moves, or joins the next one."""
    lines = "".join(tokens).split("\n")
    line, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    match draw.randrange(4):
        case 0:
            del lines[line]
        case 1:
            lines.insert(other, lines[line])
        case 2:
            lines.insert(other, lines.pop(line))
        case _:
            lines[line : line + 2] = ["".join(lines[line : line + 2])]
    tokens[:] = _TOKEN.findall("\n".join(lines))


MUTATIONS: Sequence[Mutation] = (
    delete,
    duplicate,
    swap,
    replace,
    insert,
    truncate,
    exchange_word,
    exchange_word,
    replace,
    write_sql,
    write_sql,
    rewrite_sql,
    edit_character,
    edit_character,
    move_lines,
)


def mutate(text: str, seed: int) -> bytes:
    """The text with one to three mutations; every 16th seed has bytes that are not UTF-8."""
    draw = random.Random(seed)
    tokens = _TOKEN.findall(text)
    assert "".join(tokens) == text
    for _ in range(draw.choice((1, 1, 2, 3))):
        if len(tokens) > 1:
            draw.choice(MUTATIONS)(draw, tokens)
    data = "".join(tokens).encode("utf-8", errors="replace")
    if seed % 16 == 0:
        place = draw.randrange(len(data) + 1)
        data = data[:place] + draw.choice((b"\xff", b"\xc3(", b"\xed\xa0\x80")) + data[place:]
    return data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """A copy of the example, with its mapping as .obda too."""
    target = tmp_path_factory.mktemp("fuzzed") / "traffic"
    copytree(root / "examples/traffic", target, ignore=ignore_patterns("data", "*.parquet"))
    for original in (root / "tests/mappings/r2rml").glob("*.*"):
        if original.name in SEEDS:
            (target / original.name).write_bytes(original.read_bytes())
    return target


@pytest.mark.parametrize(
    ("name", "seed"), [(name, seed) for name, count in SEEDS.items() for seed in range(count)]
)
def test_a_broken_file_gives_a_located_error_or_loads(name: str, seed: int, folder: Path) -> None:
    file = folder / name
    original = file.read_bytes()
    file.write_bytes(mutate(original.decode("utf-8"), seed))
    try:
        for read in (read_for_rewriting, read_for_materializing):
            try:
                read(folder, file)
            except OntoweirError as error:
                check_located(error, folder)
    finally:
        file.write_bytes(original)


def read_for_rewriting(folder: Path, file: Path) -> None:
    """What can be loaded can also be unfolded and printed, in any of its graphs."""
    project = load_project(folder, environ={})
    mappings = load_mappings(
        [file] if file.suffix != ".toml" else project.mappings, project.catalog
    )
    names = {g.value for a in mappings.assertions for g in a.graphs if isinstance(g, ConstantMap)}
    for graphs in ((), tuple(sorted(names)), ("http://traffic.example/maps/g/x",)):
        selected = select_graphs(mappings, graphs, project.catalog)
        queries = tuple(assertion_query(a, project.catalog) for a in selected.assertions)
        for query in queries:
            union = SpjUnion("q", tuple(n for n, _ in query.outputs), (query,), distinct=True)
            print_sql(union, project.catalog)


def read_for_materializing(folder: Path, file: Path) -> None:
    if file.suffix != ".toml":
        read_r2rml(file)


def check_located(error: OntoweirError, folder: Path) -> None:
    """The message has a file of the project and a line in it, and is one line."""
    assert error.exit_code == 2
    assert error.source is not None, error
    assert Path(error.source.file).parent == folder, error
    assert error.source.line is not None, error
    assert "\n" not in str(error)
    with open(error.source.file, "rb") as file:
        last = file.read().count(b"\n") + 1
    assert 1 <= error.source.line <= last, error


def test_the_files_themselves_load(folder: Path) -> None:
    for name in SEEDS:
        read_for_rewriting(folder, folder / name)
        read_for_materializing(folder, folder / name)


def test_the_corpus_is_large(folder: Path) -> None:
    """Each file has many different mutants."""
    for name, count in SEEDS.items():
        text = (folder / name).read_text(encoding="utf-8")
        mutants = {mutate(text, seed) for seed in range(count)} - {text.encode()}
        assert len(mutants) > 0.9 * count
