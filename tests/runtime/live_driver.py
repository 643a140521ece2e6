"""A live run that kills itself, in its own process: `live_driver.py FOLDER STAGE COUNT [CHECK]`.

STAGE `java` kills its Java process instead; `fill` fills the disk of CHECK. Ends with 0, or with 3
and one line on stdout.
"""

import contextlib
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ontoweir.errors import RunError
from ontoweir.run.run_options import RunOptions
from ontoweir.run.run_queries import run_queries
from tests.runtime.kill_at import kill_at
from tests.runtime.live.test_run_live import QUERIES, open_queries


def kill_java() -> None:
    """kill -9 the processes that this one has started."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError):
            if entry.name.isdigit():
                status = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                if int(status[1]) == os.getpid():
                    os.kill(int(entry.name), signal.SIGKILL)


def fill(place: Path) -> None:
    """Write until nothing more fits."""
    with contextlib.suppress(OSError), open(place / "ballast", "wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass


def main() -> None:
    """Run to the end, unless killed."""
    folder, stage, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    check = Path(sys.argv[4]) if len(sys.argv) > 4 else folder / "check"
    match stage:
        case "java":
            kill_at("after-read", count, kill_java)
        case "fill":
            kill_at("after-read", count, lambda: fill(check.parent))
        case _:
            kill_at(stage, count)
    workspace, compiled = open_queries(folder, list(QUERIES))
    java = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1", "spark.master": "local[1]"}
    options = RunOptions(check, folder / "out", once=True, progress=False, spark=java)
    try:
        run_queries(workspace, compiled, options)
    except RunError as error:
        print(f"refused: {error}", flush=True)
        os._exit(error.exit_code)


if __name__ == "__main__":
    main()
