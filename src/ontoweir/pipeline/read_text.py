"""The texts of query and project files, as users wrote them."""

from pathlib import Path

from ontoweir.errors import QueryError, Source


def read_text(file: Path) -> str:
    """The text of a query file.

    Raises:
        QueryError: it cannot be read, or is not UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8-sig")  # with or without a byte-order mark
    except OSError as error:
        raise QueryError(
            f"cannot read the query: {error.strerror or error}",
            why="the file is missing or not readable",
            fix="correct its path",
            source=Source(str(file)),
        ) from error
    except UnicodeDecodeError as error:
        raise QueryError(
            "the query is not UTF-8 text",
            why=f"byte {error.start} is {error.object[error.start]:#04x}",
            fix="save it as UTF-8",
            source=Source(str(file), error.object.count(b"\n", 0, error.start) + 1),
        ) from error


def read_project(file: str) -> str | None:
    """The text of the project file, where it can be read, and is one: scripts of SQL are none, nor
    manifests of dbt."""
    if file.lower().endswith((".sql", ".json")):
        return None
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
