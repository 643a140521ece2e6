"""What replays of composed queries cost: groups and rows of windows that are joined.

    .venv/bin/python benchmarks/replay/composed.py [--days 30]

The history is made by examples/traffic/generate.py. Of each query: rows of history, answers, CPU
and the most memory of a process of its own, which starts Python and writes the answers.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
HOUR, MINUTES = "ts > NOW() - INTERVAL '1' HOUR", "ts > NOW() - INTERVAL '10' MINUTE"
YESTERDAY = "ts <= NOW() - INTERVAL '23' HOUR AND ts > NOW() - INTERVAL '24' HOUR"
MEAN = "SELECT report_id, AVG(avg_speed) AS v FROM traffic WHERE {} GROUP BY report_id"
LATEST = (
    "SELECT report_id, avg_speed FROM traffic "
    "QUALIFY RANK() OVER (PARTITION BY report_id ORDER BY ts DESC) = 1"
)
QUERIES = {
    "groups": MEAN.format(HOUR),
    "share of all": (
        "SELECT report_id, SUM(vehicle_count) / SUM(SUM(vehicle_count)) OVER () AS share "
        f"FROM traffic WHERE {HOUR} GROUP BY report_id"
    ),
    "full join": (
        "SELECT COALESCE(a.report_id, b.report_id) AS id, a.v AS now, b.v AS hour "
        f"FROM ({MEAN.format(MINUTES)}) a FULL JOIN ({MEAN.format(HOUR)}) b "
        "ON a.report_id = b.report_id"
    ),
    "rows and their mean": (
        "SELECT report_id, avg_speed - AVG(avg_speed) OVER (PARTITION BY report_id) AS d "
        "FROM traffic WHERE ts > NOW() - INTERVAL '30' MINUTE"
    ),
    "now and before": (
        f"SELECT report_id, AVG(CASE WHEN {MINUTES} THEN avg_speed END) AS now, "
        f"AVG(avg_speed) AS hour FROM traffic WHERE {HOUR} GROUP BY report_id"
    ),
    "latest and the hour": (
        f"SELECT l.report_id, l.avg_speed - m.v AS above FROM ({LATEST}) l "
        f"JOIN ({MEAN.format(HOUR)}) m ON m.report_id = l.report_id"
    ),
    "the greatest": (
        f"WITH x AS ({MEAN.format(MINUTES)}) SELECT x.report_id FROM x "
        "WHERE NOT EXISTS (SELECT 1 FROM x AS y WHERE y.v > x.v)"
    ),
    "slow so far": (
        "SELECT report_id, AVG(avg_speed) AS v FROM traffic GROUP BY report_id "
        "HAVING AVG(avg_speed) < 50"
    ),
    "share so far": (
        "SELECT report_id, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM traffic "
        "GROUP BY report_id"
    ),
    "latest and yesterday": (
        f"SELECT l.report_id, l.avg_speed - m.v AS above FROM ({LATEST}) l "
        f"JOIN ({MEAN.format(YESTERDAY)}) m ON m.report_id = l.report_id"
    ),
    "last month": MEAN.format("ts >= CURRENT_DATE - INTERVAL '1' MONTH"),
}


def replay(project: Path, name: str) -> dict[str, float]:
    """The numbers of one replay."""
    command = [sys.executable, "-m", "ontoweir", "replay", str(project), "--query", name]
    command += ["--output", str(project / f"{name}.parquet"), "--summary", "json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    told = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{name}: the replay ended with {os.waitstatus_to_exitcode(status)}")
    summary = json.loads(told)
    cpu = used.ru_utime + used.ru_stime
    return {
        **{k: summary[k] for k in ("tuples", "results")},
        "cpu": cpu,
        "mb": used.ru_maxrss / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What replays of composed queries cost.")
    parser.add_argument("--days", type=int, default=30)
    days = parser.parse_args().days
    with TemporaryDirectory() as folder:
        project = Path(folder, "traffic")
        shutil.copytree(
            ROOT / "examples" / "traffic", project, ignore=shutil.ignore_patterns("data")
        )
        make = [sys.executable, "generate.py", "--days", str(days), "--output", "data"]
        subprocess.run(make, cwd=project, check=True, stdout=subprocess.DEVNULL)
        print(f"{'query':22} {'rows':>10} {'answers':>10} {'CPU s':>7} {'MB':>6}")
        for number, text in enumerate(QUERIES.values()):
            (project / "queries" / f"q{number}.sql").write_text(text + "\n", encoding="utf-8")
        toml = project / "ontoweir.toml"
        more = toml.read_text(encoding="utf-8").replace('"queries/*.rq"', '"queries/*.sql"')
        toml.write_text(more, encoding="utf-8")
        for number, title in enumerate(QUERIES):
            told = replay(project, f"q{number}")
            numbers = f"{told['tuples']:10,.0f} {told['results']:10,.0f} {told['cpu']:7.1f}"
            print(f"{title:22} {numbers} {told['mb']:6,.0f}", flush=True)


if __name__ == "__main__":
    main()
