"""Case files are read, compared exactly, and written by --update-cases."""

from pathlib import Path

import pytest

from tests.case_files import compare_block, read_cases, write_block

FILE = """# Doubling

```given
1
```

## Twice

```query
x + x
```

## Twin: once

Nothing is doubled.

```query
x
```
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "doubling.md"
    made.write_text(FILE)
    return made


def test_a_case_has_its_blocks_and_the_files(file: Path) -> None:
    twice, once = read_cases(file)
    assert (str(twice), twice.is_twin, once.is_twin) == ("doubling: Twice", False, True)
    assert (twice.given("given"), twice.given("query")) == ("1\n", "x + x\n")
    with pytest.raises(AssertionError, match="no block after"):
        once.given("after")


def test_what_came_of_a_case_is_written_and_compared(file: Path) -> None:
    for text in ("2 * x", "2x\n(shorter)"):  # appended, then replaced
        twice, once = read_cases(file)
        with pytest.raises(AssertionError, match="not what `after` says"):
            compare_block(twice, "after", text)
        write_block(twice, "after", text)
        write_block(once, "after", "")
        twice, once = read_cases(file)
        compare_block(twice, "after", text)
        compare_block(once, "after", "")
    block = "```after\n2x\n(shorter)\n```\n"
    assert file.read_text() == FILE.replace("x + x\n```\n", f"x + x\n```\n\n{block}")


def test_titles_are_unique(file: Path) -> None:
    file.write_text(f"{FILE}\n## Twice\n")
    with pytest.raises(AssertionError, match="two cases Twice"):
        list(read_cases(file))
