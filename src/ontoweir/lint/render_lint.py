"""What the mappings allow, as text, JSON and SARIF."""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ontoweir.checker.verdict.verdict import Tier, name_tier
from ontoweir.diagnostics import CODES
from ontoweir.errors import OntoweirError, Source
from ontoweir.lint.lint_mappings import PROBES, MappingLint, PredicateLint, Probe, overall
from ontoweir.report.render_check import short_place
from ontoweir.report.scanning.render_sarif import (
    ResultPlace,
    make_log,
    make_result,
    refusal_results,
)

_STYLE = {"unbounded": "bold red", "undecided": "yellow", "refused": "yellow", "bounded": "green"}
_HEADS = {"joined by subject": "by subject", "joined by object": "by object"}
_NAMES, _CELL = 39, 12


def print_lint(lints: Sequence[MappingLint], console: Console) -> None:
    """Each mapping of a stream with its predicates, then all predicates over all their mappings,
    then the unbounded columns with what to declare."""
    names = _short_names(p.iri for lint in lints for p in lint.predicates)
    heads = "".join(_HEADS.get(probe, probe).ljust(_CELL) for probe in PROBES)
    console.print(Text(" " * _NAMES + heads.rstrip(), style="bold"), soft_wrap=True)
    for lint in lints:
        head = Text(f"{lint.mapping} ", style="bold")
        head.append(f"{short_place(lint.source)}: ", style="dim")
        head.append("static" if lint.stream is None else f"the stream {lint.stream}")
        if lint.stream is None:
            head.append(", nothing to wait for")
        console.print(head, soft_wrap=True)
        if lint.stream is None:
            paragraph = fill(
                _join(lint.predicates, names), 98, initial_indent="  ", subsequent_indent="  "
            )
            console.print(Text(paragraph, style="dim"))
        if lint.stream is not None:
            groups: dict[tuple[tuple[Probe, str], ...], list[PredicateLint]] = {}
            for predicate in lint.predicates:
                groups.setdefault(tuple(_words(predicate).items()), []).append(predicate)
            console.print(_table([(_join(g, names), dict(k)) for k, g in groups.items()]))
    rows: dict[tuple[tuple[Probe, str], ...], list[str]] = {}
    streamed = {(p.kind, p.iri) for lint in lints if lint.stream for p in lint.predicates}
    for (kind, iri), tiers in overall(lints).items():
        if (kind, iri) in streamed:
            words = tuple((p, name_tier(t)) for p, t in tiers.items())
            rows.setdefault(words, []).append(names[iri])
    if rows:
        console.print(Text("All mappings of a class or property together", style="bold"))
        console.print(_table([(", ".join(names_of), dict(key)) for key, names_of in rows.items()]))
    _print_columns(lints, console)


def _print_columns(lints: Sequence[MappingLint], console: Console) -> None:
    columns = dict.fromkeys(c for lint in lints for p in lint.predicates for c in p.unbounded)
    if columns:
        console.print(Text("Unbounded columns", style="bold"))
    for column in columns:
        place = "" if column.source is None else f" {short_place(column.source)}"
        console.print(Text(f"  {column.table}.{column.column}{place}"), soft_wrap=True)
    actions = dict.fromkeys(a for lint in lints for p in lint.predicates for a in p.actions)
    declare = dict.fromkeys(d for lint in lints for p in lint.predicates for d in p.declare)
    for action in actions:
        console.print(Text(f"  {action}", style="green"), soft_wrap=True)
    for source, line in declare:
        console.print(Text(f"    {short_place(source)}", style="dim"), soft_wrap=True)
        console.print(Text(f"    + {line}", style="green"), soft_wrap=True)
    refused = dict.fromkeys(
        f"{probe}: {why}"
        for lint in lints
        for p in lint.predicates
        for probe, why in p.refused.items()
    )
    for text in refused:
        console.print(Text(f"  refused, {text}", style="yellow"), soft_wrap=True)


def _table(rows: Sequence[tuple[str, dict[Probe, str]]]) -> Table:
    table = Table(box=None, show_header=False, padding=0)
    table.add_column(width=_NAMES)
    for _ in PROBES:
        table.add_column(width=_CELL)
    for name, words in rows:
        shown = fill(name, _NAMES - 2, initial_indent="  ", subsequent_indent="  ")
        table.add_row(shown, *(_cell(words.get(probe, "-")) for probe in PROBES))
    return table


def _cell(word: str) -> Text:
    return Text("if declared" if word == "conditionally-bounded" else word, _STYLE.get(word, ""))


def _words(predicate: PredicateLint) -> dict[Probe, str]:
    return {
        probe: "refused" if probe in predicate.refused else name_tier(tier)
        for probe, tier in predicate.probes.items()
    }


def _join(predicates: Iterable[PredicateLint], names: dict[str, str]) -> str:
    return ", ".join(dict.fromkeys(names[p.iri] for p in predicates))


def _short_names(iris: Iterable[str]) -> dict[str, str]:
    """The part behind the last # or /, where it is that of one IRI only."""
    iris_of: dict[str, set[str]] = {}
    for iri in iris:
        iris_of.setdefault(re.split(r"[#/]", iri)[-1] or iri, set()).add(iri)
    return {
        iri: short if len(same) == 1 else iri for short, same in iris_of.items() for iri in same
    }


def describe_lint(lints: Sequence[MappingLint]) -> list[dict[str, Any]]:
    """As `ontoweir check --mappings-only --format json` prints it."""
    worst = overall(lints)
    return [
        {
            "mapping": lint.mapping,
            "source": _source(lint.source),
            "stream": lint.stream,
            "predicates": [
                {
                    "iri": p.iri,
                    "kind": p.kind,
                    "subject": p.subject,
                    "probes": _words(p),
                    "overall": {probe: name_tier(t) for probe, t in worst[p.kind, p.iri].items()},
                    "best": str(p.best),
                    "refused": dict(p.refused),
                    "unbounded": [
                        {"table": c.table, "column": c.column, "source": _source(c.source)}
                        for c in p.unbounded
                    ],
                    "actions": list(p.actions),
                    "declare": [line for _, line in p.declare],
                }
                for p in lint.predicates
            ],
        }
        for lint in lints
    ]


def _source(source: Source | None) -> dict[str, Any] | None:
    return None if source is None else {"file": source.file, "line": source.line}


def render_lint_sarif(
    lints: Sequence[MappingLint],
    root: Path,
    warnings: Sequence[str],
    errors: Sequence[OntoweirError] = (),
) -> dict[str, Any]:
    """A SARIF log: a note for every mapping whose terms have unbounded columns; a warning where
    no query over time about its subjects is possible; an error for each that is refused."""
    results = refusal_results((), errors, root)
    for lint in lints:
        columns = dict.fromkeys(c for p in lint.predicates for c in p.unbounded)
        if not columns:
            continue
        alone = any(p.best.rank >= Tier.UNDECIDED.rank for p in lint.predicates)
        names = ", ".join(f"{c.table}.{c.column}" for c in columns)
        lines = "; ".join(dict.fromkeys(line for p in lint.predicates for _, line in p.declare))
        text = f"{lint.mapping} makes terms of {names}, which nothing bounds: such terms cannot "
        text += "be remembered or joined over time"
        if alone:
            text += ", nor can anything else of its subjects"
        text += f". Declare, for example: {lines}" if lines else ""
        level = "warning" if alone else "note"
        key = (lint.mapping, names)
        results.append(
            make_result(CODES["mapping"], level, text, ResultPlace(lint.source, root), key=key)
        )
    return make_log(results, root, warnings)


def dump_lint(lints: Sequence[MappingLint]) -> str:
    """The JSON as text."""
    return json.dumps(describe_lint(lints), indent=2, ensure_ascii=False)


def reaches(lints: Sequence[MappingLint], limit: Tier) -> bool:
    """Whether there are subjects of a stream whose best use over time is not below `limit`."""
    return any(p.best.rank >= limit.rank for lint in lints if lint.stream for p in lint.predicates)
