"""Kill -9 at random moments, and power cuts, over the engines, for some minutes.

    .venv/bin/python benchmarks/live/kill_runs.py [--minutes 10] [--seed 1]
        [--engines intake spill …]

Each turn is a process with a seed of its own (`tests/runtime/intake_cycles.py`, `fork_cycles.py`):
children take in micro-batches and kill themselves somewhere, at a call that changes the disk, in
the kernel, or around the commit; others go on. In the end the answers, each once, and the rejected
rows are compared: of a server of many queries (`intake`: alike ones too, which join and leave) with
those of replays; of one query with those of a run that nobody killed. `power`: of what nobody has
waited for (fsync) a part is lost as well; `kept`: answers are kept for an instant only;
`merged`: and merged meanwhile; `topics`: a stream is a topic; `composed`, `composed-archive`: of
queries of groups of windows that are joined, united and the first (`composed_cycles.py`). Prints
how many were killed by engine, and how to repeat what failed; then the exit code is 1.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests" / "runtime"
sys.path.insert(0, str(ROOT))

from tests.runtime.kill_at import STAGES  # noqa: E402

CHOSEN = (*STAGES, "at-the-disk", "at-the-disk")
"""At the disk there are the most places."""
SERVERS = {
    "intake": ["kill"],
    "power": ["cut"],
    "kept": ["cut", "keep"],
    "merged": ["cut", "keep", "compact"],
    "topics": ["cut", "topics"],
    "composed": ["cut", "keep", "compact"],
    "composed-archive": ["kill", "archive"],
}
SINGLE = {
    "driver": [],
    "late": ["late"],
    "views": ["views"],
    "parts": ["parts"],
    "moved": ["moved"],
    "spill": ["spill"],
    "renewed": [],
}


def make_command(engine: str, folder: str, random: Random) -> list[str]:
    """A turn of an engine."""
    seed = str(random.randrange(1_000_000))
    if engine in SERVERS:
        cycles = "composed_cycles.py" if engine.startswith("composed") else "intake_cycles.py"
        return [str(TESTS / cycles), folder, seed, "6", *SERVERS[engine]]
    stage = "renewed-logs" if engine == "renewed" else random.choice(CHOSEN)
    return [str(TESTS / "fork_cycles.py"), folder, stage, seed, "6", *SINGLE[engine]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    engines = [*SERVERS, *SINGLE]
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", nargs="+", choices=engines, default=engines)
    given = parser.parse_args()
    random = Random(given.seed)
    until = time.monotonic() + 60 * given.minutes
    killed: Counter[str] = Counter()
    turns: Counter[str] = Counter()
    failed: list[str] = []
    while time.monotonic() < until:
        engine = given.engines[sum(turns.values()) % len(given.engines)]
        with tempfile.TemporaryDirectory(prefix="ontoweir-kill-") as folder:
            command = make_command(engine, folder, random)
            ran = subprocess.run(
                [sys.executable, *command], check=False, capture_output=True, text=True
            )
        turns[engine] += 1
        if ran.returncode:
            failed.append(" ".join(["python", *command]))
            print(failed[-1], ran.stderr[-2000:], sep="\n", file=sys.stderr)
            continue
        told = json.loads(ran.stdout.splitlines()[-1])
        killed[engine] += told.get("kills", told.get("killed", 0))
    print(json.dumps({"killed": killed, "turns": turns, "failed": failed}, indent=1))
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
