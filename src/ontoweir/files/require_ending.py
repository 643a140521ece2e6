"""Refuse a file whose name says another format than what is written."""

from collections.abc import Sequence
from pathlib import Path

from ontoweir.errors import Source, UsageError
from ontoweir.files.find_output import StreamOutput, find_output


def require_ending(output: Path, endings: Sequence[str], fix: str) -> None:
    """Nothing, where a name has one of some endings, or none, or is that of no file.

    Args:
        output: what is to be written.
        endings: in lower case, with their dot.
        fix: what else may be written.

    Raises:
        UsageError: it has another ending.
    """
    ending = output.suffix
    if not ending or ending.lower() in endings or isinstance(find_output(output), StreamOutput):
        return
    *others, last = endings
    listed = f"{', '.join(others)} or {last}" if others else last
    raise UsageError(
        f"cannot write {output}: {ending} names no format that is written here",
        why=f"the ending of a name says what is in the file: {listed}",
        fix=fix,
        source=Source("--output"),
    )
