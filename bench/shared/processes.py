"""Modules of bench/ that run in a process of their own: its memory is theirs alone."""

import os
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]


def run_module(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What `name`, as "shared.memory", says when it is run with these arguments."""
    paths = [str(BENCH), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-m", name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
