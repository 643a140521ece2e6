"""Lines of triples maps and of texts inside them in an R2RML file: RDF parsers give none."""

import re


def locate_block(text: str, names: tuple[str, ...]) -> tuple[int, int]:
    """First and last line of the statement whose subject is spelled as one of `names`.

    Returns (1, last line) when none is found (a blank node, or another format).
    """
    lines = text.splitlines()
    for name in names:
        start_pattern = re.compile(rf"^\s*{re.escape(name)}(?![\w-])")
        for number, line in enumerate(lines, start=1):
            if start_pattern.match(line) and (number == 1 or _ends(lines, number - 1)):
                end = number
                while end < len(lines) and not re.search(r"\.\s*(?:#.*)?$", lines[end - 1]):
                    end += 1
                return number, end
    return 1, max(1, len(lines))


def _ends(lines: list[str], number: int) -> bool:
    """Whether the last written line up to `number` ends a statement."""
    for line in reversed(lines[:number]):
        bare = re.sub(r"\s#.*$|^#.*$", "", line).strip()
        if bare:
            return bare.endswith(".")
    return True


def locate_text(text: str, needle: str, block: tuple[int, int]) -> int:
    """The first line of the block that holds `needle`, else the block's first line."""
    first, last = block
    spelled = needle.replace("\\", "\\\\").replace('"', '\\"')
    for candidate in (f'"{spelled}"', needle.strip().splitlines()[0] if needle.strip() else needle):
        for number, line in enumerate(text.splitlines()[first - 1 : last], start=first):
            if candidate in line:
                return number
    return first


def locate_word(text: str, name: str) -> int:
    """The first line that holds the local name, whole; else 1."""
    found = re.search(rf"[:#]{re.escape(name)}(?![\w-])", text)
    return 1 if found is None else text.count("\n", 0, found.start()) + 1
