"""Make a repair in the texts of the files that it changes."""

from collections.abc import Mapping
from pathlib import Path

from ontoweir.edit.describe_repairs import DescribedRepair, Edit
from ontoweir.errors import UsageError


def apply_repair(repair: DescribedRepair) -> Mapping[Path, tuple[str, str]]:
    """The texts of the files that a repair changes, before and after, by file; nothing is written.

    Raises:
        UsageError: it has lines without a place; or a file is not there.
    """
    edits: dict[Path, list[Edit]] = {}
    for edit in repair.edits:
        if edit.source.line is None:
            raise UsageError(
                f"a line of the repair has no simple place in {edit.source.file}",
                why="only small changes are made, comments stay",
                fix=f"write it yourself: {' '.join(edit.lines)}",
                source=edit.source,
            )
        edits.setdefault(Path(edit.source.file), []).append(edit)
    changed = {}
    for file, mine in edits.items():
        try:
            before = file.read_text(encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"{file} cannot be read: {error.strerror or error}",
                why="the repair changes it",
                fix="change the text where it comes from",
            ) from error
        lines = before.split("\n")
        # all edits count the lines as they are now, so the last is made first
        for edit in sorted(mine, key=lambda e: e.source.line or 0, reverse=True):
            start = (edit.source.line or 1) - 1
            lines[start : start + edit.replaced] = edit.lines
        changed[file] = (before, "\n".join(lines))
    return changed
