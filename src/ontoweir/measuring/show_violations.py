"""What is wrong in data, as text for people and as JSON."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from ontoweir.errors import Source
from ontoweir.report.render_check import short_place

if TYPE_CHECKING:
    from ontoweir.runtime.violations.violation import Example, TableViolations, Violation

_LONG = 60
"""A value is shown with at most so many characters."""


def print_violations(tables: "Sequence[TableViolations]", console: Console) -> None:
    """Print for each table whether what is declared of it is true, and rows of which it is not."""
    for found in tables:
        looked = f"{found.rows:,} row{'s' * (found.rows != 1)}"
        if not found.whole:
            looked = f"the first {looked}"
        line = Text("data  ", style="bold")
        line.append(f"{found.table}: ", style="not bold")
        if not found.violations:
            line.append(f"what is declared is true of {looked}", style="not bold green")
            console.print(line, soft_wrap=True)
            continue
        line.append(f"{found.wrong:,} of {looked} break what is declared", style="not bold red")
        console.print(line, soft_wrap=True)
        for violation in found.violations:
            _print_violation(violation, console)


def _print_violation(violation: "Violation", console: Console) -> None:
    count = f"{violation.rows:,} row{'s' * (violation.rows != 1)}"
    console.print(Text(f"  {violation.reason}: {count}"), soft_wrap=True)
    for example in violation.examples:
        line = Text(f"    {short_place(Source(example.file))}", style="dim")
        line.append(f", row {example.number}: ", style="not dim")
        line.append(_cells(example), style="not dim")
        console.print(line, soft_wrap=True)
    if violation.fix is not None:
        console.print(Text(f"    fix: {violation.fix}", style="green"), soft_wrap=True)


def show_example(example: "Example") -> str:
    """A wrong row on one line: where it is, and what it holds."""
    return f"{short_place(Source(example.file))}, row {example.number}: {_cells(example)}"


def _cells(example: "Example") -> str:
    return ", ".join(f"{n} = {_cell(v)}" for n, v in example.values.items())


def _cell(value: object) -> str:
    text = "NULL" if value is None else str(value)
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


def describe_violations(tables: "Sequence[TableViolations]") -> dict[str, Any]:
    """The same as JSON, by table."""
    return {
        found.table: {
            "rows": found.rows,
            "whole": found.whole,
            "wrong": found.wrong,
            "violations": [
                {
                    "reason": violation.reason,
                    "rows": violation.rows,
                    "fix": violation.fix,
                    "examples": [
                        {
                            "file": example.file,
                            "row": example.number,
                            "values": {n: _plain(v) for n, v in example.values.items()},
                        }
                        for example in violation.examples
                    ],
                }
                for violation in found.violations
            ],
        }
        for found in tables
    }


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, int | float | str | bool) else str(value)
