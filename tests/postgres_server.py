"""A server of PostgreSQL of our own, where there is one to start."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pytest

PLACES = ("/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/16/bin", "/usr/lib/postgresql/17/bin")


@contextmanager
def serve_postgres() -> Iterator[str]:
    """The address of a new server, whose password is hush; a skip where there is none to start."""
    found = shutil.which("initdb", path=os.pathsep.join([*PLACES, os.environ.get("PATH", "")]))
    root = os.geteuid() == 0
    if found is None or (root and shutil.which("runuser") is None):
        pytest.skip("there is no PostgreSQL to start")
    bin_ = Path(found).resolve().parent
    folder = Path(mkdtemp(prefix="ow-pg-", dir="/tmp"))  # a socket's path is short
    start = ["runuser", "-u", "postgres", "--"] if root else []
    if root:
        shutil.chown(folder, "postgres")

    def call(*command: object) -> None:
        asked = [*start, *map(str, command)]
        done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    call(bin_ / "initdb", "-D", folder / "d", "-A", "trust", "-U", "postgres", "--no-sync")
    options = f"-k {folder} -c listen_addresses= -c fsync=off"
    call(bin_ / "pg_ctl", "-D", folder / "d", "-w", "-l", folder / "log", "-o", options, "start")
    try:
        yield f"postgresql://postgres:hush@/postgres?host={folder}"
    finally:
        call(bin_ / "pg_ctl", "-D", folder / "d", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)
