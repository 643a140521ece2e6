"""Files of tests lie in memory, where the machine has room there: each replay waits for the disk
twice, and random tests replay thousands of times."""

import os
import shutil
import tempfile
import time
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 6 << 30
"""So many bytes must be free: several times what the files of all tests take."""
_FOLDER, _PREFIX, _DAY_S = "ONTOWEIR_TESTS_IN_MEMORY", "ontoweir-tests-", 86_400


def has_room(folder: Path = MEMORY) -> bool:
    """Whether files may be written to a folder, and it has room for those of all tests."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    known = os.statvfs(folder)
    return known.f_bavail * known.f_frsize >= ROOM


def begin() -> None:
    """Let temporary files lie in a folder in memory, one for all processes of a run of pytest; and
    pytest's own, of which those of failed tests stay until later runs (pyproject.toml).

    Programs that tests start have the temporary files that they always have.
    """
    if _FOLDER not in os.environ:
        if "PYTEST_DEBUG_TEMPROOT" in os.environ or not has_room():
            return
        for left in MEMORY.glob(f"{_PREFIX}*"):
            if time.time() - left.stat().st_mtime > _DAY_S:  # of a run that was killed
                shutil.rmtree(left, ignore_errors=True)
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(MEMORY)
        os.environ[_FOLDER] = tempfile.mkdtemp(prefix=_PREFIX, dir=MEMORY)
    tempfile.tempdir = os.environ[_FOLDER]


def end() -> None:
    """Remove the folder, when all processes have ended."""
    if folder := os.environ.pop(_FOLDER, None):
        del os.environ["PYTEST_DEBUG_TEMPROOT"]
        tempfile.tempdir = None
        shutil.rmtree(folder, ignore_errors=True)
