"""Note how far answers have been sent to where they cannot be taken back from."""

import json
from pathlib import Path

from ontoweir.errors import RunError, Source, UsageError
from ontoweir.files.replace_file import replace_file

SENT_FILE = "sent.json"


def note_sent(output: Path, run: str, batch: int) -> None:
    """Say beside the output that a micro-batch's answers have been sent.

    Raises:
        RunError: it cannot be written.
    """
    try:
        output.mkdir(parents=True, exist_ok=True)
        held = json.dumps({"run": run, "batch": batch})
        replace_file(output / SENT_FILE, held.encode(), durable=True)
    except OSError as error:
        raise RunError(
            f"{output / SENT_FILE} cannot be written: {error.strerror or error}",
            why="it says how far answers have been sent",
            fix="make room, or mend the folder, and start again",
        ) from error


def check_sent(output: Path, run: str, last: int) -> None:
    """A run goes on only from where its answers have been sent to: it would make others of the rows
    after that, and send them under the keys of those.

    Raises:
        UsageError: the checkpoint is an older copy.
    """
    file = output / SENT_FILE
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
        sent = int(held["batch"]) if held["run"] == run else -1
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{file} cannot be read: {error}",
            why="it says how far answers have been sent",
            fix="restore it; or, if the checkpoint is no older copy, remove it",
            source=Source(str(file)),
        ) from error
    if sent > last:
        raise UsageError(
            f"answers up to micro-batch {sent} have been sent, and the checkpoint is at {last}",
            why="what has been sent cannot be taken back, and would come again under other keys",
            fix="restore the newer checkpoint, or start with a new one, a new topic or address, "
            "and a new --output, and replay what has passed",
            source=Source(str(file)),
        )
