"""How long `ontoweir check examples/traffic` takes, and the proof that it starts no JVM.

    .venv/bin/python benchmarks/decide/check_time.py [--runs 5]

PATH and JAVA_HOME lead to a `java` that only records that it was called. Spark would call it.
A first run that is not counted writes Python's bytecode. CPU seconds depend less than wall time on
what else the machine does.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    ontoweir = Path(sys.executable).parent / "ontoweir"
    command = [str(ontoweir), "check", str(ROOT / "examples" / "traffic")]
    seconds: list[float] = []
    cpu: list[float] = []
    queries = 0
    with tempfile.TemporaryDirectory() as folder:
        called = Path(folder, "called")
        java = Path(folder, "bin", "java")
        java.parent.mkdir()
        java.write_text(f"#!/bin/sh\necho called >>'{called}'\nexit 1\n")
        java.chmod(0o755)
        path = f"{java.parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "JAVA_HOME": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        subprocess.run(["java"], env=environment, check=False)
        if not called.exists():
            sys.exit("the recording java does not record: nothing would be proved")
        called.unlink()
        subprocess.run(command, env=environment, capture_output=True, check=False)
        for _ in range(options.runs):
            start, used = time.perf_counter(), _children_cpu()
            done = subprocess.run(
                [*command, "--format", "json"], env=environment, capture_output=True, text=True
            )
            seconds.append(time.perf_counter() - start)
            cpu.append(_children_cpu() - used)
            if done.returncode != 0:
                sys.exit(f"check ended with {done.returncode}: {done.stderr}")
            queries = len(json.loads(done.stdout))
        started = called.exists()
    record = {
        "queries": queries,
        "runs": options.runs,
        "median_seconds": round(statistics.median(seconds), 3),
        "best_seconds": round(min(seconds), 3),
        "median_cpu_seconds": round(statistics.median(cpu), 3),
        "jvm_started": started,
    }
    print(json.dumps(record))
    return 1 if started else 0


def _children_cpu() -> float:
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    sys.exit(main())
