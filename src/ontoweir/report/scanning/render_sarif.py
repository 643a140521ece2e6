"""Verdicts as SARIF 2.1.0, for code scanning: what fails, what a verdict rests on, warnings."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ontoweir import __version__
from ontoweir.checker.verdict.verdict import Failing, Verdict
from ontoweir.diagnostics import CODES, Label
from ontoweir.edit.describe_repairs import DescribedRepair, Edit
from ontoweir.errors import OntoweirError, Source
from ontoweir.files.mark_source import mark_source
from ontoweir.pipeline.refused_query import RefusedQuery, list_errors
from ontoweir.project.project import PROJECT_FILE
from ontoweir.report.explain_code import code_titles, explain_code

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
SRCROOT = "%SRCROOT%"
"""What relative paths are relative to, by the name that code scanning gives it."""
_LEVELS = {
    CODES["declaration"]: "note",
    CODES["warning"]: "warning",
    CODES["plan"]: "warning",
    CODES["mapping"]: "note",
}
_PLACED = re.compile(r"(?P<file>.+?):(?P<line>\d+): (?P<text>.*)", re.DOTALL)


def render_sarif(
    verdicts: Sequence[Verdict],
    root: Path,
    warnings: Sequence[str] = (),
    *,
    repairs: Sequence[Sequence[DescribedRepair]],
    refused: Sequence[RefusedQuery] = (),
    errors: Sequence[OntoweirError] = (),
) -> dict[str, Any]:
    """A SARIF log with one run.

    Unbounded is an error, undecided a warning, each declared constraint that a verdict rests on a
    note. Files below the current folder, else below the project's, are named relative to it, as
    code scanning requires; others by their full path.

    Args:
        verdicts: the verdicts.
        root: the project's folder.
        warnings: the warnings about the input, `file:line: text`.
        repairs: those of each verdict. One whose every line has a place is a `fix` of
            all failures of its query.
        refused: queries without a verdict; each reason is an error, once.
        errors: of mappings that are refused, whichever queries they concern.
    """
    results_by_key: dict[str, dict[str, Any]] = {}
    for verdict, mending in zip(verdicts, repairs, strict=True):
        fixes = [_fix(r, root) for r in mending if all(e.source.line for e in r.edits)]
        for result in (*_failures(verdict, root, fixes), *_conditions(verdict, root)):
            results_by_key.setdefault(result["partialFingerprints"]["ontoweir/v1"], result)
    return make_log(
        [*results_by_key.values(), *refusal_results(refused, errors, root)], root, warnings
    )


def refusal_results(
    refused: Sequence[RefusedQuery], errors: Sequence[OntoweirError], root: Path
) -> list[dict[str, Any]]:
    """An error for each reason why queries or mappings are refused, with the queries."""
    results = []
    for error in list_errors([*(r.error for r in refused), *errors]):
        names = [r.name for r in refused if str(r.error) == str(error)]
        whose = f"; refused: {', '.join(names)}" if names else ""
        place = ResultPlace(error.source or Source(str(root / PROJECT_FILE)), root)
        text = f"{error.what}. {error.why}. {error.fix}{whose}"
        key = (str(error),)
        results.append(make_result(CODES["refused"], "error", text, place, key=key))
    return results


def make_log(
    results: Sequence[dict[str, Any]], root: Path, warnings: Sequence[str]
) -> dict[str, Any]:
    """A SARIF log with one run: results, and warnings about the input."""
    distinct = {r["partialFingerprints"]["ontoweir/v1"]: r for r in results}
    for text in warnings:
        result = _warning(text, root)
        distinct.setdefault(result["partialFingerprints"]["ontoweir/v1"], result)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "ontoweir",
                        "version": __version__,
                        "semanticVersion": __version__,
                        "rules": [_rule(c, title) for c, title in code_titles().items()],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {SRCROOT: {"uri": _base(root).as_uri().rstrip("/") + "/"}},
                "invocations": [{"executionSuccessful": True}],
                "results": list(distinct.values()),
            }
        ],
    }


def _rule(code: str, title: str) -> dict[str, Any]:
    page, level = explain_code(code), _LEVELS.get(code, "error")
    return {
        "id": code,
        "name": re.sub(r"\W+", " ", title).title().replace(" ", ""),
        "shortDescription": {"text": title},
        "fullDescription": {"text": title},
        "helpUri": f"urn:x-ontoweir:{code}",
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": ["bounded-memory"],
            "precision": "very-high",
            "problem.severity": "recommendation" if level == "note" else level,
        },
    }


def _fix(repair: DescribedRepair, root: Path) -> dict[str, Any]:
    """A repair as an object of section 3.55: what is deleted, and what written, in each file."""
    bound = repair.verdict.bound
    rows = "finite" if bound is None or bound.rows is None else f"at most {bound.rows:,} rows"
    text = f"{'; '.join(repair.actions)} (then {repair.verdict.tier}, {rows})"
    changes: dict[str, dict[str, Any]] = {}
    for edit in repair.edits:
        change = changes.setdefault(
            edit.source.file,
            {"artifactLocation": _artifact(edit.source, root), "replacements": []},
        )
        change["replacements"].append(_replacement(edit))
    return {"description": {"text": _plain(text)}, "artifactChanges": list(changes.values())}


def _replacement(edit: Edit) -> dict[str, Any]:
    """Whole lines: the last one's end is left where lines are replaced by lines."""
    first, inserted = edit.source.line or 1, "\n".join(edit.lines)
    region = {"startLine": first, "startColumn": 1, "endLine": first, "endColumn": 1}
    if not edit.replaced and (end := _end_of(edit.source.file)) is not None and first > end[0]:
        # after a last line that no line break ends
        line, column = end
        region = {"startLine": line, "startColumn": column, "endLine": line, "endColumn": column}
        inserted = f"\n{inserted}"
    elif not edit.replaced:
        inserted += "\n"
    elif not edit.lines:
        region["endLine"] = first + edit.replaced
    else:
        last = mark_source(Source(edit.source.file, first + edit.replaced - 1, 1))
        region |= {"endLine": first + edit.replaced - 1, "endColumn": last.stop if last else 1}
    return {"deletedRegion": region, "insertedContent": {"text": inserted}}


def _end_of(file: str) -> tuple[int, int] | None:
    """The last line of a file, and the column after it; None where the file cannot be read."""
    try:
        lines = Path(file).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return len(lines), len(lines[-1]) + 1


def _plain(text: str) -> str:
    """A message's text: {0} is a placeholder."""
    return re.sub(r"\{(\d+)\}", r"{{\1}}", text)


def _failures(
    verdict: Verdict, root: Path, fixes: Sequence[dict[str, Any]]
) -> Iterable[dict[str, Any]]:
    level = "error" if verdict.name == "unbounded" else "warning"
    for disjunct in verdict.disjuncts:
        if isinstance(disjunct, Failing):
            for d in disjunct.because:
                text = f"{verdict.union.name}: {d.message}. {d.hint}"
                result = make_result(
                    d.code,
                    level,
                    text,
                    ResultPlace(d.source or verdict.union.source, root, d.labels),
                    key=(verdict.union.name, d.message),
                )
                yield {**result, "fixes": list(fixes)} if fixes else result


def _conditions(verdict: Verdict, root: Path) -> Iterable[dict[str, Any]]:
    for condition in verdict.conditions:
        source = condition.source or verdict.union.source
        yield make_result(
            CODES["declaration"],
            "note",
            f"{verdict.union.name} is bounded as long as {condition.text}, which is declared here",
            ResultPlace(source, root, mark=condition.columns[0] if condition.columns else None),
            key=(verdict.union.name, condition.text),
        )


def _warning(text: str, root: Path) -> dict[str, Any]:
    """Of a warning without a place the project is the place."""
    placed = _PLACED.fullmatch(text)
    if placed is None:
        place = ResultPlace(Source(str(root / PROJECT_FILE)), root)
        return make_result(CODES["warning"], "warning", text, place, key=(text,))
    place = ResultPlace(Source(placed["file"], int(placed["line"])), root)
    return make_result(CODES["warning"], "warning", placed["text"], place, key=(placed["text"],))


@dataclass(frozen=True, slots=True)
class ResultPlace:
    """Where a result is: its place in a file (None: in none) of the project in the folder `root`,
    more places with what is said of them, and the word that is marked (None: the line)."""

    source: Source | None
    root: Path
    labels: Sequence[Label] = ()
    mark: str | None = None


def make_result(
    code: str,
    level: str,
    text: str,
    place: ResultPlace,
    *,
    key: tuple[str, ...],
) -> dict[str, Any]:
    """A result at a place; `key` distinguishes it from others of its code."""
    digest = hashlib.sha256("\0".join((code, *key)).encode()).hexdigest()
    labels, root, source = place.labels, place.root, place.source
    shown = next((x.source for x in labels if x.source == source and x.source.column), source)
    result: dict[str, Any] = {
        "ruleId": code,
        "ruleIndex": list(code_titles()).index(code),
        "level": level,
        "message": {"text": _plain(text)},
        "locations": [] if shown is None else [_location(shown, place.mark, root)],
        # GitHub distinguishes alerts by the second one, and by the place where it is missing
        "partialFingerprints": {"ontoweir/v1": digest, "primaryLocationLineHash": digest[:16]},
    }
    if labels:
        result["relatedLocations"] = [
            {"id": n, **_location(x.source, x.mark, root), "message": {"text": x.text}}
            for n, x in enumerate(labels, 1)
        ]
    return result


def _location(source: Source, mark: str | None, root: Path) -> Mapping[str, Any]:
    physical = {"artifactLocation": _artifact(source, root)}
    region = {"startLine": source.line or 1, "startColumn": 1}
    marked = mark_source(source, mark)
    if marked is not None:
        region |= {"startColumn": marked.start, "endColumn": marked.stop}
    return {"physicalLocation": {**physical, "region": region}}


def _artifact(source: Source, root: Path) -> dict[str, str]:
    """A file; for what is in none (`--set`, a variable) the project file that it overrides."""
    base, path = _base(root), Path(source.file).resolve()
    if source.line is None and not path.exists():
        path = (root / PROJECT_FILE).resolve()
    if path.is_relative_to(base):
        return {"uri": quote(path.relative_to(base).as_posix()), "uriBaseId": SRCROOT}
    return {"uri": path.as_uri()}


def _base(root: Path) -> Path:
    """The folder that paths are relative to."""
    return Path.cwd() if root.resolve().is_relative_to(Path.cwd()) else root.resolve()
