"""Units that stand behind the numbers of a file's cells."""

import re
from collections.abc import Sequence

_CELL = re.compile(
    r"([+-]?[0-9][0-9.,'\u2019\u00a0\u202f]*(?:[eE][+-]?[0-9]+)?)(\s*)([^\s\d.,+|'-][^\s|,;]{0,9})"
)
_SIGNS = ("%", "‰", "°", "°C", "°F", "€", "$", "£")
"""What may stand close behind a number; of anything else `12A` would be a name."""


def find_cell_units(columns: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The units of columns whose cells all are numbers with one and the same unit behind them: a
    sign, or a word with a blank before it.

    Args:
        columns: their cells, without those that stand for what is missing.

    >>> find_cell_units([["12.5%", "7%"], ["3 kWh", "1,5 kWh"], ["12A", "14B"], ["1 of", "2"]])
    ('%', 'kWh')
    """
    found: dict[str, None] = {}
    for cells in columns:
        parts = [_CELL.fullmatch(cell) for cell in cells]
        if not parts or None in parts:
            continue
        units = {part[3] for part in parts if part is not None}
        apart = all(part[2] for part in parts if part is not None)
        if len(units) == 1 and (apart or units <= {*_SIGNS}):
            found.update(dict.fromkeys(units))
    return tuple(found)


def leave_unit(cells: Sequence[str], units: Sequence[str]) -> list[str]:
    """The numbers of cells that have one of the units behind them; other cells as they are.

    >>> leave_unit(["12.5%", "x"], ("%",))
    ['12.5', 'x']
    """
    parts = [(cell, _CELL.fullmatch(cell)) for cell in cells]
    return [cell if part is None or part[3] not in units else part[1] for cell, part in parts]
