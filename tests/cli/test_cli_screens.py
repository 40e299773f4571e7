"""Narrow terminals: whatever a verb prints, no label and no number is cut, however few columns there are."""

import csv
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

import nbcfast
from nbcfast import skyline

pytest.importorskip("rich")
pytest.importorskip("pyarrow")

LIKELY = {  # what tells a class or a disease from the others
    "blood_pressure_at_rest": ["normal", "elevated", "high"],
    "exercise_days": ["0", "1-2", "3 or more"],
    "glucose": ["low", "raised"],
}
SCREENS = {
    "inspect": "inspect people.csv --class diagnosis",
    "publish": "publish people.csv --accept-answers --class diagnosis --amplification 4 --out out",
    "publish, measured": "publish people.csv --accept-answers --class diagnosis --amplification 4 --out out "
    "--holdout others.csv --method safetytransform --columns glucose,exercise_days",
    "verify": "verify release",
    "verify, against": "verify release --against people.csv",
    "verify, damaged": "verify damaged",
    "verify, partition": "verify partition",
    "verify, disclosure": "verify disclosed",
    "verify, answers": "verify told",
    "attack": "attack release --given glucose=low --given exercise_days=0",
    "attack, members": "attack release --against people.csv --holdout others.csv",
    "attack, table": "attack people.csv --class diagnosis --breach 0.5 0.8",
    "closeness": "closeness people.csv --class diagnosis --prior 'healthy=0.6,diabetes_of_type_2=0.4' --r 9",
    "skyline check": "skyline check people.csv --by glucose,exercise_days --sensitive diagnosis "
    "--point 0,0,0,0.95 --point 0,1,0,0.5",
    "skyline find": "skyline find people.csv --by glucose --sensitive diagnosis --confidence 0.95",
    "skyline find, many k": "skyline find crowd.csv --by town --sensitive illness --confidence 0.95",
    "skyline anonymize": "skyline anonymize people.csv --by glucose,exercise_days,blood_pressure_at_rest "
    "--sensitive diagnosis --k 5 --out out",
    "check": "templates check people.csv "
    "--template 'glucose,exercise_days -> diagnosis=diabetes_of_type_2 <= 20%'",
    "disclose": "templates disclose people.csv --target blood_pressure_at_rest --out out "
    "--template 'glucose,exercise_days -> diagnosis=diabetes_of_type_2 <= 80%'",
    "disguise": "response disguise people.csv --theta 0.8 --k-ary --groups glucose,exercise_days "
    "--keep diagnosis --seed 7 --out out",
    "estimate": "response estimate told --class diagnosis",
    "response plan": "response plan --theta 0.8 --groups smokes,drinks --each --error 0.02",
    "risk": "risk pairs.csv --view name,town --view town,illness_in_words --identity name "
    "--attribute illness_in_words --threshold 0.9",
    "risk, advice": "risk pairs.csv --identity name --attribute illness_in_words --advise town,job",
}
BAR = "\u2500"  # of the line below a header, as long as the table is wide


def write(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the verbs read; nothing in it is changed."""
    from nbcfast.cli import main

    folder = tmp_path_factory.mktemp("screens")
    rng = np.random.default_rng(5)
    for name, n in (("people", 240), ("others", 60)):
        chosen = {column: rng.integers(0, len(values), n) for column, values in LIKELY.items()}
        ill = rng.random(n) < 0.1 + 0.1 * sum(chosen.values())
        rows = zip(
            *(np.array(LIKELY[column])[places] for column, places in chosen.items()),
            np.where(ill, "diabetes_of_type_2", "healthy"),
            strict=True,
        )
        write(folder / f"{name}.csv", [*LIKELY, "diagnosis"], rows)
    illnesses = [f"illness {chr(97 + place)}" for place in range(12)]
    write(folder / "crowd.csv", ["town", "illness"], [("A", one) for one in illnesses for _ in range(400)])
    people = [
        ("Georgina Featherstonehaugh", "Lower Slaughter", "clerk", "obesity and nothing else"),
        ("John", "Lower Slaughter", "cook", "cold"),
        ("Kate", "Upper Slaughter", "clerk", "cold"),
    ]
    write(folder / "pairs.csv", ["name", "town", "job", "illness_in_words"], people)
    before = os.getcwd()
    os.chdir(folder)
    try:
        written = {
            "publish": "release",
            "skyline anonymize": "partition",
            "disclose": "disclosed",
            "disguise": "told",
        }
        for name, to in written.items():
            with pytest.raises(SystemExit) as left:
                main(shlex.split(SCREENS[name].replace("--out out", f"--out {to}")))
            assert left.value.code == 0, name
    finally:
        os.chdir(before)
    shutil.copytree(folder / "release", folder / "damaged")
    damaged = folder / "damaged" / "certificate.json"
    damaged.write_text(
        damaged.read_text(encoding="utf-8").replace('"amplification":4', '"amplification":3', 1)
    )
    return folder


def printed(run, command, width, folder, monkeypatch):
    """What a terminal of so many columns would show, None for a pipe; without its colours."""
    monkeypatch.chdir(folder)
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    if width is not None:
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("FORCE_COLOR", "1")  # so rich takes what it writes to for a terminal
    code, out, err = run(*shlex.split(command))
    shutil.rmtree(folder / "out", ignore_errors=True)
    assert code in (0, 1), err
    return re.sub(r"\x1b\[[0-9;]*m", "", out)


def letters(text):
    return Counter(re.sub(rf"[\s{BAR}]", "", text))


@pytest.mark.parametrize("name", SCREENS)
def test_no_label_and_no_number_is_cut(name, run, folder, monkeypatch):
    wide = printed(run, SCREENS[name], None, folder, monkeypatch)
    assert len(wide.splitlines()) > 3
    words = Counter(word for word in wide.split() if len(word) <= 16 and BAR not in word)
    for width in (80, 60, 40):
        narrow = printed(run, SCREENS[name], width, folder, monkeypatch)
        assert max(map(len, narrow.splitlines())) <= width
        assert letters(wide) <= letters(narrow), "something is cut"
        assert words <= Counter(narrow.split()), "a word is broken"
        assert "\u2026" not in narrow


def test_each_line_of_a_wide_skyline_has_its_l(in_full, folder, monkeypatch):
    groups = skyline.group(nbcfast.read_csv(folder / "crowd.csv"), by=["town"], sensitive="illness")
    table = skyline.frontier_table(skyline.find(groups, "0.95"))
    assert len(repr(table).splitlines()[0]) > 120
    for width in (80, 60, 40):
        narrow = printed(in_full, SCREENS["skyline find, many k"], width, folder, monkeypatch)
        assert table.text(width) in narrow


def test_a_table_that_fits_is_printed_as_in_a_pipe(run, folder, monkeypatch):
    wide = printed(run, SCREENS["inspect"], None, folder, monkeypatch)
    assert printed(run, SCREENS["inspect"], 120, folder, monkeypatch) == wide


def test_a_real_terminal(folder):
    """`attack --against --holdout` lost all of its labels on 80 columns."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    command = [sys.executable, "-m", "nbcfast", *shlex.split(SCREENS["attack, members"]), "--verbose"]
    with subprocess.Popen(
        command, cwd=folder, stdout=theirs, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment
    ) as child:
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # so Linux says that nobody writes to the terminal any more
                break
            if not part:
                break
            seen += part
        assert child.wait(timeout=120) == 0, child.stderr.read()
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;]*m", "", seen.decode())
    for label in ("largest ratio of posteriors, average over worlds", "membership in the private table, AUC"):
        assert set(label.split()) <= set(text.split())
    assert max(len(line.rstrip("\r")) for line in text.splitlines()) <= 80
