"""Whether two terms can have the same text, whatever the rows."""

from typing import TypeAlias, assert_never

from ontoweir.mappings.model.catalog import IntType
from ontoweir.rewriter.algebra.equality_classes import Types
from ontoweir.rewriter.model.spj import (
    Attribute,
    BlankOutput,
    ConstantOutput,
    IriOutput,
    LiteralOutput,
    NullOutput,
    Output,
    TemplateLiteralOutput,
)

TextAtoms: TypeAlias = tuple[str | frozenset[str] | None, ...]
"""Characters, and for each column the characters that its values may have (None: any)."""


def fixed_ends(parts: tuple[str | Attribute, ...]) -> tuple[str, str]:
    """The fixed text that what a template makes begins with, and that it ends with."""
    first, last = (parts[0], parts[-1]) if parts else ("", "")
    return first if isinstance(first, str) else "", last if isinstance(last, str) else ""


def differ_at_ends(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether no text has the fixed ends of both. Most of many templates are told apart by that, in
    a fraction of the time that `may_meet` takes."""
    (begin, end), (begin2, end2) = one, other
    return not (
        (begin.startswith(begin2) or begin2.startswith(begin))
        and (end.endswith(end2) or end2.endswith(end))
    )


def list_atoms(parts: tuple[str | Attribute, ...], types: Types, encoded: bool) -> TextAtoms:
    """What texts a template makes; `encoded`: its values are percent-encoded."""
    digits, plain = frozenset("0123456789-"), frozenset("\0abc")
    atoms: list[str | frozenset[str] | None] = []
    for part in parts:
        if isinstance(part, str):
            atoms.extend(part)
        elif isinstance(types.type_of(part), IntType):
            atoms.append(digits)
        else:
            atoms.append(plain if encoded else None)
    return tuple(atoms)


def list_atoms_of(output: Output, types: Types) -> TextAtoms:
    """What texts a term has in answers."""
    match output:
        case IriOutput(parts=parts):
            return list_atoms(parts, types, len(parts) > 1)
        case BlankOutput(parts=parts):
            return list_atoms(("_:", *parts), types, True)
        case TemplateLiteralOutput(parts=parts):
            return list_atoms(parts, types, False)
        case LiteralOutput(value=attribute) | NullOutput(value=attribute):
            return list_atoms((attribute,), types, False)
        case ConstantOutput(value=text):
            return tuple(text)
        case _:
            assert_never(output)


def may_meet(a: TextAtoms, b: TextAtoms) -> bool:
    """Whether two templates can make the same text: reachability in their product."""
    seen: set[tuple[int, int]] = set()
    todo = [(0, 0)]
    while todo:
        i, j = state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        if i == len(a) and j == len(b):
            return True
        x = a[i] if i < len(a) else ""
        y = b[j] if j < len(b) else ""
        if not isinstance(x, str):
            todo.append((i + 1, j))
            if isinstance(y, str) and y and _holds(x, y):
                todo.append((i, j + 1))
        if not isinstance(y, str):
            todo.append((i, j + 1))
            if isinstance(x, str) and x and _holds(y, x):
                todo.append((i + 1, j))
        if isinstance(x, str) and x and x == y:
            todo.append((i + 1, j + 1))
    return False


def _holds(values: frozenset[str] | None, char: str) -> bool:
    """Whether a column's values may have a character."""
    if values is None:
        return True
    if "\0" not in values:
        return char in values
    return char.isalnum() or char in "-._~%" or ord(char) > 127
