"""peers.py runs, and all peers that are installed give the answers that nbcfast gives."""

import subprocess
import sys
from pathlib import Path


def bench_peers_100_000_rows(benchmark):
    command = [sys.executable, str(Path(__file__).with_name("peers.py")), "--quick"]
    done = benchmark.pedantic(subprocess.run, (command,), {"capture_output": True, "text": True}, rounds=1)
    assert done.returncode == 0, done.stderr
    assert "count 1e5 rows, 2 classes" in done.stdout
