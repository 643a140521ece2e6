"""Lines of triples maps and of texts inside them in an R2RML file: RDF parsers give none."""

import re
from functools import lru_cache


def locate_block(text: str, names: tuple[str, ...]) -> tuple[int, int]:
    """First and last line of the statement whose subject is spelled as one of `names`.

    Returns (1, last line) when none is found (a blank node, or another format).
    """
    blocks = _list_blocks(text)
    for name in names:
        if name in blocks:
            return blocks[name]
    return 1, max(1, len(split_lines(text)))


@lru_cache(maxsize=8)
def split_lines(text: str) -> tuple[str, ...]:
    """The lines of a text, split once, at line feeds alone."""
    return tuple(text.removesuffix("\n").split("\n"))


@lru_cache(maxsize=8)
def _list_blocks(text: str) -> dict[str, tuple[int, int]]:
    """All statements that begin a line, by their subjects' spelling; of several the first."""
    lines = split_lines(text)
    ended = [bool(re.search(r"\.\s*(?:#.*)?$", line)) for line in lines]
    blocks: dict[str, tuple[int, int]] = {}
    for number, line in enumerate(lines, start=1):
        subject = re.match(r"\s*(<[^>]*>|[^\s<>\[\]();,\"]+)", line)
        if subject is None or subject[1] in blocks:
            continue
        if number == 1 or _ends(lines, number - 1):
            end = number
            while end < len(lines) and not ended[end - 1]:
                end += 1
            blocks[subject[1]] = number, end
    return blocks


def _ends(lines: tuple[str, ...], number: int) -> bool:
    """Whether the last non-blank line up to `number` ends a statement."""
    for place in range(number - 1, -1, -1):
        bare = re.sub(r"\s#.*$|^#.*$", "", lines[place]).strip()
        if bare:
            return bare.endswith(".")
    return True


def locate_text(text: str, needle: str, block: tuple[int, int]) -> int:
    """The first line of the block that holds `needle`, else the block's first line."""
    first, last = block
    spelled = needle.replace("\\", "\\\\").replace('"', '\\"')
    for candidate in (f'"{spelled}"', needle.strip().splitlines()[0] if needle.strip() else needle):
        for number, line in enumerate(split_lines(text)[first - 1 : last], start=first):
            if candidate in line:
                return number
    return first


def locate_word(text: str, name: str) -> int:
    """The first line that holds the local name, whole; else 1."""
    word = re.search(rf"[:#]{re.escape(name)}(?![\w-])", text)
    return 1 if word is None else text.count("\n", 0, word.start()) + 1
