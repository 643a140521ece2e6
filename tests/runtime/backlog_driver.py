"""An intake without Spark takes in a backlog: `backlog_driver.py FOLDER STEP_ROWS STEP_BYTES`.

FOLDER has the files of stream s. Prints the most memory that it had (kB), its commits, and in how
many files the answers of an hourly count are.
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ontoweir.runtime.live.intake import intake as module
from ontoweir.runtime.live.intake.intake import Intake
from ontoweir.runtime.live.intake.model import IntakeOptions
from tests.runtime.intake_cycles import FORMATS, Lister, make_member, open_project

SQL = """SELECT date_trunc('hour', ts) AS h, k, COUNT(*) AS n, SUM(a) AS total
FROM s GROUP BY date_trunc('hour', ts), k"""


def main() -> None:
    """Take all in, then look."""
    folder, rows, size = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    module._CATCH_UP_ROWS = rows
    for name in FORMATS:
        (folder / name).mkdir(exist_ok=True)
    workspace = open_project(folder)
    (folder / "backlog.sql").write_text(SQL)
    spark: Any = object()  # reads nothing here
    intake = Intake(IntakeOptions(folder / "intake", (rows, size)), spark)
    intake.restore(ticks=False)
    lister = Lister(folder, intake, 1_000)
    intake.join(make_member(folder, workspace, "backlog"))
    while lister.list() or intake.catch_up(all_listed=True):
        pass
    assert intake.is_even
    assert intake.failed is None
    status = Path("/proc/self/status").read_text()
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    parts = len(list((folder / "out" / "backlog").glob("part-*")))
    (lane,) = intake.lanes
    told = {"peak": int(peak), "commits": intake.commits.number, "parts": parts}
    print(json.dumps({**told, "tuples": lane.state.totals["tuples"]}))
    intake.close()


if __name__ == "__main__":
    main()
