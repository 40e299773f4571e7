"""NBCFAST_ISA: which vectors kernels use, and that nothing depends on them."""

import os
import subprocess
import sys

import every_level
import pytest

from nbcfast import _columns
from nbcfast._reading import csv_blocks

LEVELS = {"baseline": 0, "v2": 0, "v3": 1, "v4": 2}


def printed(folder, word):
    environment = {name: value for name, value in os.environ.items() if name != "NBCFAST_ISA"}
    if word is not None:
        environment["NBCFAST_ISA"] = word
    return subprocess.run(
        [sys.executable, "-P", every_level.__file__, str(folder)],
        env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_every_level_gives_the_same(tmp_path):
    widest, digest = printed(tmp_path, None).stdout.split()
    for word, level in LEVELS.items():
        assert printed(tmp_path, word).stdout.split() == [str(min(level, int(widest))), digest]


def test_an_empty_word_asks_for_nothing(tmp_path):
    assert printed(tmp_path, "").stdout == printed(tmp_path, None).stdout


def test_another_word_is_refused(tmp_path):
    done = printed(tmp_path, "V3")
    assert done.returncode == 1
    assert "ValueError: NBCFAST_ISA must be one of baseline, v2, v3, v4; got 'V3'" in done.stderr


@pytest.mark.parametrize(("level", "vectors"), [(0, 0), (1, 1), (2, 3)])
def test_text_is_read_with_vectors_of_the_same_level(monkeypatch, level, vectors):
    if level > _columns.level():
        pytest.skip("this processor has no such vectors")
    widest = csv_blocks.vectors()
    monkeypatch.setattr(_columns, "level", lambda: level)
    assert csv_blocks.vectors() == min(vectors, widest)
