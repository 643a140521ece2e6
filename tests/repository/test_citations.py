"""Citations lead somewhere: to sections, numbered deviations, files and names that exist.

Docstrings cite a section as "theory §7, 8" and a deviation as "checker/citations.md, 18".
"""

import re

import pytest

from tests.paths import ROOT

FOLDERS = ("ontology", "mappings", "rewriter", "checker", "runtime", "src/ontoweir")
SOURCES = [f for folder in FOLDERS for f in sorted((ROOT / folder).rglob("*.py"))]
TEXT = {f: f.read_text(encoding="utf-8") for f in SOURCES}
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "checker/citations.md", "docs/theory.md")


def _cited(pattern: str) -> set[tuple[str, str]]:
    """The numbers that sources cite, with the file."""
    return {
        (str(file.relative_to(ROOT)), number)
        for file, text in TEXT.items()
        for listed in re.findall(pattern, text)
        for number in re.findall(r"\d+", listed)
    }


def _numbers(page: str, pattern: str) -> set[str]:
    return set(re.findall(pattern, (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE))


def test_sections_of_the_theory_exist() -> None:
    cited = _cited(r"theory\s+§(\d+(?:, \d+)*)")
    assert len(cited) > 20
    sections = _numbers("docs/theory.md", r"^## (\d+)\. ")
    assert {c for c in cited if c[1] not in sections} == set()


def test_numbered_citations_exist() -> None:
    cited = _cited(r"citations\.md, (\d+(?:, \d+)*)")
    assert cited
    numbers = _numbers("checker/citations.md", r"^(\d+)\. ")
    assert {c for c in cited if c[1] not in numbers} == set()


@pytest.mark.parametrize("page", PAGES)
def test_files_and_names_on_pages_for_developers_exist(page: str) -> None:
    """Paths in backticks are files here; `snake_case` and `CamelCase` are names in the code."""
    words = set(re.findall(r"`([\w./]+)(?:\(\))?`", (ROOT / page).read_text(encoding="utf-8")))
    tests = [f.read_text(encoding="utf-8") for f in (ROOT / "tests").rglob("*.py")]
    names = set(re.findall(r"\w+", "\n".join([*TEXT.values(), *tests])))
    names |= {f.stem for f in SOURCES} | {"verb_noun"}
    missing = set()
    for word in words:
        if "/" in word and not word.startswith(("/", "out/")):
            if not any((base / word).exists() for base in (ROOT, ROOT / page.rpartition("/")[0])):
                missing.add(word)
        elif re.fullmatch(r"[a-z]+(_[a-z0-9]+)+|[A-Z][a-z]+([A-Z][a-z]+)+", word):
            missing |= {word} - names
    assert missing == set()
