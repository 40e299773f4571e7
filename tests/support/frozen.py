"""What every verb prints and writes, frozen: a change of the house must not change a byte of it.

`python -P tests/support/frozen.py` runs the commands of `COMMANDS` in an empty folder, and writes what they print, what
they leave with and what stands in the folders that they make to tests/fixture. Whoever changes words on purpose
runs it, reads the difference and commits it with the change.
"""

# ruff: noqa: E501  commands stand as they are typed

import contextlib
import functools
import io
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parents[1]
FIXTURE = HERE / "fixture"
EXAMPLES = HERE.parent / "examples"

PEOPLE = """\
Job,Country,Child,Bankruptcy,Rating,n
Cook,US,No,Current,Bad,4
Artist,France,No,Current,Good,1
Artist,France,No,Current,Bad,3
Doctor,US,Yes,Never,Good,4
Doctor,US,Yes,Never,Bad,2
Trader,UK,No,Discharged,Good,4
Trader,UK,No,Never,Good,1
Trader,Canada,No,Never,Good,1
Clerk,Canada,No,Never,Good,3
Clerk,Canada,No,Discharged,Good,1
"""
FIG1 = """\
name,age,job,problem
George,45,Manager,HIV
John,45,Manager,Cold
Kate,45,Lawyer,Obesity
Bill,30,Lawyer,Cold
Alan,27,Clerk,Cold
"""
KINDS = """\
size,colour,grade,=note,n,label
1.5,red,A,x,3,yes
2.5,red,B,,1,yes
2.5,,B,y,2,no
4,blue,C,x,5,no
,blue,A,y,1,perhaps
1.5,green,C,,2,perhaps
4,green,A,x,1,yes
"""
MENU = """\
{"age": {"edges": [0, 30, 60, null]}, "sex": ["female", "male"], "glucose": ["low", "normal", "raised", "high"]}
"""
COARSE = '{"size": {"edges": [0, 2, null], "null": true}, "label": ["no", "perhaps", "yes"]}'
SETS = """\
{"age": ["18-29", "30-39", "40-49", "50-59", "60-69", "70+"],
 "bmi": {"groups": {"normal or less": ["underweight", "normal"], "more": ["overweight"], "most": ["obese"]}},
 "glucose": {"groups": {"usual": ["low", "normal"], "raised": ["raised", "high"]}},
 "diagnosis": ["healthy", "diabetes"]}
"""
POLICY = """\
domain = "sets.json"
[release]
class = "diagnosis"
columns = ["age", "bmi", "glucose"]
amplification = 4
preserve = "label"
[limits]
worst_posterior = "80%"
"""
LEVELS = "low;usual\nnormal;usual\nraised;unusual\nhigh;unusual\n"
LATER = "name,age,bmi,glucose\nAda,70+,normal,high\nBen,18-29,obese,none\nCleo,30-39,overweight,\n"
PAIRS = "glucose,relatives\nlow,0\nlow,1\nnormal,0\nnormal,1\nnormal,2\nraised,1\nhigh,2\n"

TEMPLATE = "'Job,Country -> Bankruptcy=Discharged <= 75%'"
OF_THE_MENU = (
    "age",
    "bmi",
    "glucose",
    "exercise_days",
    "diagnosis",
)  # of that of the patients: few are soon tried
THREE = "--columns age,glucose,relatives"

# In this order, in one folder: later commands read what earlier ones wrote. Each folder has one command that
# makes it.
COMMANDS = {
    "inspect": "inspect patients.csv --class diagnosis",
    "domain": "domain small.csv --class diagnosis --out begun.json",
    "inspect-nulls": "inspect kinds.csv --class label --weights n",
    "inspect-any": "inspect named.csv",
    "explain": "explain worst posterior of healthy",
    "explain-words": "explain",
    "explain-unknown": "explain epsilom",
    "publish": "publish patients.csv --accept-answers --class diagnosis --amplification 4 --out release",
    "publish-breach": "publish patients.csv --accept-answers --class diagnosis --breach 0.5 0.8 --out by-breach",
    "publish-bits": f"publish patients.csv --accept-answers --class diagnosis --amplification 4 {THREE} --bits 3 --out bits",
    "publish-declared": "publish small.csv --accept-answers --class diagnosis --amplification 3/2 --domain menu.json --out declared",
    "publish-words": "publish small.csv --class diagnosis --amplification 3/2 --bin age=30,60 --leave-out sex "
    "--group glucose=sets.csv --out words",
    "publish-tuples": "publish patients.csv --accept-answers --class diagnosis --amplification 4 --columns glucose,relatives "
    "--tuples pairs.csv --out listed",
    "publish-rows": f"publish patients.csv --accept-answers --class diagnosis --amplification 4 {THREE} --rows 60000 --out rows",
    "publish-few-rows": f"publish patients.csv --accept-answers --class diagnosis --amplification 4 {THREE} --rows 40 --out few",
    "publish-differing": f"publish patients.csv --accept-answers --class diagnosis --amplification 4 {THREE} --rows 100 "
    "--allow-differences --out differing",
    "publish-proven": f"publish patients.csv --accept-answers --class diagnosis --amplification 4 {THREE} --rows proven "
    "--method safetytransform --out proven",
    "publish-transform": f"publish patients.csv --accept-answers --class diagnosis --amplification 4 {THREE} "
    "--method safetytransform --out transformed",
    "publish-worlds": f"publish patients.csv --accept-answers --class diagnosis --amplification 4 {THREE} --attacker worlds "
    "--no-gauge --method safetytransform --out worlds",
    "publish-order": "publish patients.csv --accept-answers --class glucose --amplification 8 --columns age,relatives "
    "--preserve order --method safetytransform --out order",
    "publish-classes": "publish patients.csv --accept-answers --class glucose --amplification 8 --columns age,relatives --out classes",
    "publish-kinds": "publish kinds.csv --accept-answers --class label --weights n --amplification 6 --domain coarse.json --out kinds",
    "publish-halves": "publish members.csv --accept-answers --class diagnosis --amplification 4 --out half --holdout others.csv",
    "publish-kept": "publish patients.csv --class diagnosis --amplification 4 --columns age,bmi,glucose "
    "--domain sets.json --out kept",
    "advise": "advise patients.csv --class diagnosis --menu menu-of-domains.json --out advised.json",
    "advise-none": "advise patients.csv --class diagnosis --menu fine.json --out no-domain.json",
    "publish-advised": "publish patients.csv --class diagnosis --amplification 4 --domain advised.json --out advised",
    "publish-menu": "publish patients.csv --class diagnosis --amplification 4 --menu menu-of-domains.json --out from-menu",
    "verify-menu": "verify from-menu --menu menu-of-domains.json",
    "publish-flat": "publish patients.csv --class diagnosis --amplification 4 --columns sex --out flat",
    "publish-refused": "publish patients.csv --class diagnosis --amplification 4 --out refused",
    "publish-names": "publish named.csv --class diagnosis --amplification 4 --out refused",
    "publish-strata": "publish small.csv --class diagnosis --amplification 3/2 --domain menu.json --strata sex "
    "--accept-answers --out strata",
    "publish-strata-refused": "publish patients.csv --class diagnosis --amplification 4 --columns age,glucose "
    "--strata sex --out refused",
    "publish-noise": "publish patients.csv --class diagnosis --amplification 4 --columns age,bmi,glucose "
    "--domain sets.json --dp-epsilon 1 --out noisy",
    "publish-noise-gaussian": "publish patients.csv --class diagnosis --amplification 4 --columns age,bmi,glucose "
    "--domain sets.json --dp-rho 1/1000 --dp-delta 1e-6 --dp-neighbours replace --dp-rows-per-person 2 "
    "--method safetytransform --out noisy-powers",
    "publish-noise-few": "publish members.csv --class diagnosis --amplification 4 --columns age,bmi,glucose --domain sets.json "
    "--dp-epsilon 1/100 --out noisy-few",
    "publish-noise-refused": "publish patients.csv --class diagnosis --amplification 4 --columns age,sex "
    "--domain sets.json --dp-epsilon 1 --out refused",
    "verify-noise": "verify noisy",
    "verify-noise-gaussian": "verify noisy-powers",
    "verify-noise-against": "verify noisy --against patients.csv --domain sets.json",
    "verify-noise-owner": "verify noisy --against patients.csv --domain sets.json --for-the-owner",
    "verify": "verify release",
    "verify-against": "verify release --against patients.csv",
    "verify-breach": "verify by-breach",
    "verify-bits": "verify bits",
    "verify-bits-against": "verify bits --against patients.csv",
    "verify-declared": "verify declared",
    "verify-words": "verify words --against small.csv --group glucose=sets.csv",
    "verify-tuples": "verify listed --tuples pairs.csv --against patients.csv",
    "verify-rows": "verify rows",
    "verify-differing": "verify differing",
    "verify-strata": "verify strata",
    "verify-strata-against": "verify strata --against small.csv",
    "verify-transform": "verify transformed --against patients.csv",
    "verify-worlds": "verify worlds",
    "verify-order": "verify order",
    "verify-classes": "verify classes",
    "verify-kinds": "verify kinds --against kinds.csv --weights n",
    "attack": "attack release --given glucose=high --given age=40-49",
    "attack-against": "attack half --against members.csv --holdout others.csv",
    "attack-table": "attack members.csv --class diagnosis --breach 0.5 0.8",
    "attack-model": "attack patients.onnx --smooth 1",
    "closeness": "closeness members.csv --class diagnosis --prior healthy=0.6,diabetes=0.4 --r 5 --out close",
    "verify-closeness": "verify close --against members.csv",
    "skyline-check": "skyline check patients.csv --by age,sex --sensitive bmi --point 3,4,2,0.5 --point 0,1,0,0.9",
    "skyline-find": "skyline find patients.csv --by age,sex --sensitive bmi --confidence 0.95",
    "skyline-anonymize": "skyline anonymize patients.csv --by age,sex,smoking --sensitive bmi "
    "--point 0,2,0,0.95 --k 5 --out people",
    "skyline-anonymize-close": "skyline anonymize kinds.csv --weights n --by size,colour --sensitive label --k 2 "
    "--closeness 0.6 --out boxes",
    "verify-partition": "verify people",
    "verify-partition-against": "verify people --against patients.csv",
    "verify-boxes": "verify boxes",
    "check": f"templates check people.csv --weights n --template {TEMPLATE}",
    "disclose": f"templates disclose people.csv --weights n --target Rating --template {TEMPLATE} --out disclosed",
    "disclose-maximal": f"templates disclose people.csv --weights n --template {TEMPLATE} --maximal --no-attack --counts n "
    "--out maximal",
    "verify-disclosure": "verify disclosed",
    "verify-disclosure-against": "verify disclosed --against people.csv --weights n",
    "disguise": "response disguise survey.csv --theta 0.8 --groups smokes,drinks --each --keep health --seed 1 --out told",
    "disguise-groups": "response disguise survey.csv --theta 3/4 --groups smokes,drinks --seed 2 --out together",
    "disguise-k-ary": "response disguise kinds-once.csv --theta 0.7 --k-ary --groups colour;grade --keep label --seed 3 "
    "--out answers",
    "disguise-binarise": "response disguise ages.csv --theta 0.7 --groups age --binarise median --keep diagnosis --seed 4 "
    "--out halved",
    "verify-disguised": "verify told",
    "verify-groups": "verify together",
    "verify-k-ary": "verify answers",
    "verify-binarised": "verify halved",
    "estimate": "response estimate told --class health --holdout later-told",
    "estimate-em": "response estimate answers --class label --method em",
    "response-plan": "response plan --theta 0.8 --groups smokes,drinks --each --error 0.02",
    "risk": "risk fig1.csv --view name,age --view age,job,problem --identity name --attribute problem "
    "--model restricted --threshold 0.5",
    "risk-full": "risk fig1.csv --view name,age --view age,job,problem --identity name --attribute problem "
    "--worlds full",
    "risk-three": "risk fig1.csv --view name,age --view age,job --view job,problem --identity name "
    "--attribute problem --given name=George",
    "risk-advise": "risk fig1.csv --identity name --attribute problem --advise age,job",
    "publish-ledger": "publish patients.csv --class diagnosis --amplification 4 --columns age,bmi,glucose "
    "--domain sets.json --ledger json-ledger --window 2026-01 --out entered",
    "ledger-show": "ledger show json-ledger",
    "predict": "predict kept later-people.csv --domain sets.json --unseen null",
    "predict-out": "predict kept later-people.csv --domain sets.json --unseen null --proba --out scored.csv",
    "predict-unseen": "predict kept later-people.csv --domain sets.json --out refused.csv",
    "predict-ignore": "predict kept later-people.csv --domain sets.json --unseen ignore",
    "predict-strata": "predict strata small.csv --name predicted",
    "points": "points kept",
    "points-markdown": "points classes --format markdown",
    "points-strata": "points strata --format csv",
    "ledger-check": "ledger check json-ledger",
    "export-sql": "export release --out rule.sql --table patients",
    "export-csv": "export release --out rule.csv",
    "export-strata": "export strata --out strata.py",
    "report": "report release --out facts.html",
    "report-partition": "report people --out people.html",
    "completion": "completion bash",
    "publish-dry": "publish patients.csv --class diagnosis --amplification 4 --columns age,bmi,glucose "
    "--domain sets.json --out nowhere --dry-run",
    "publish-noise-dry": "publish patients.csv --class diagnosis --amplification 4 --columns age,bmi,glucose "
    "--domain sets.json --dp-epsilon 1 --out nowhere --dry-run",
    "init": "init small.csv --class diagnosis --out begun.toml",
    "publish-policy": "publish patients.csv --policy policy.toml --out under-policy",
    "verify-policy": "verify under-policy --policy policy.toml",
    "gate": "gate under-policy --policy policy.toml",
    "gate-against": "gate under-policy --policy policy.toml --against patients.csv --holdout others.csv",
    "gate-no": "gate release --policy policy.toml --github",
    "refused-policy": "publish patients.csv --policy policy.toml --amplification 3 --out nothing",
    "refused-class": "publish patients.csv --class disease --amplification 4 --out nothing",
    "refused-out": "publish patients.csv --class diagnosis --amplification 4 --out release",
}
# Verbs with details, which are frozen as well; the screen without them is their beginning.
AT_LENGTH = (
    "publish ",
    "verify ",
    "advise ",
    "attack ",
    "closeness ",
    "skyline ",
    "templates ",
    "response disguise ",
    "response plan ",
    "risk ",
)
BEFORE = {
    "estimate": "response disguise later.csv --scheme told/scheme.json --keep health --seed 5 --out later-told"
}
JSON = {name for name in COMMANDS if not name.startswith("refused")} - {
    "ledger-check",
    "completion",
    "explain-unknown",
}


def prepare(folder):
    """The files that the commands read."""
    patients = (EXAMPLES / "patients.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    survey, later = ((EXAMPLES / name).read_text(encoding="utf-8") for name in ("survey.csv", "later.csv"))
    menu = json.loads((EXAMPLES / "patients-menu.json").read_text(encoding="utf-8"))
    kinds = KINDS.splitlines(keepends=True)
    small = ["age,sex,glucose,diagnosis\n"]
    for place, line in enumerate(patients[1:401]):
        _, sex, _, _, _, glucose, _, _, diagnosis = line.strip().split(",")
        small.append(f"{20 + 7 * place % 60},{sex},{glucose},{diagnosis}\n")
    once = [
        ",".join((*line.rstrip("\n").split(",")[:4], line.rstrip("\n").split(",")[5])) + "\n"
        for line in kinds
    ]
    texts = {
        "patients.csv": "".join(patients[:1201]),
        "members.csv": "".join(patients[:801]),
        "others.csv": "".join((patients[0], *patients[801:1601])),
        "small.csv": "".join(small),
        "ages.csv": "".join(line.split(",")[0] + "," + line.split(",")[3] for line in small),
        "survey.csv": survey,
        "later.csv": later,
        "people.csv": PEOPLE,
        "fig1.csv": FIG1,
        "kinds.csv": KINDS,
        "kinds-once.csv": "".join((once[0], *once[1:] * 3)),
        "named.csv": "".join(
            f"{'id' if not place else 1000 + 7 * place},{line}" for place, line in enumerate(small)
        ),
        "menu.json": MENU,
        "fine.json": '{"glucose": [["low", "normal", "raised", "high"]], "sex": [["female", "male"], {"out": true}]}',
        "menu-of-domains.json": json.dumps({name: menu[name] for name in OF_THE_MENU}),
        "sets.json": SETS,
        "policy.toml": POLICY,
        "coarse.json": COARSE,
        "pairs.csv": PAIRS,
        "sets.csv": LEVELS,
        "later-people.csv": LATER,
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    shutil.copy(EXAMPLES / "patients.onnx", folder)
    return {*texts, "patients.onnx"}


def steady(text):
    """Numbers to 12 digits, as the last ones of a logarithm are up to the processor and to NumPy."""
    # A line of a ledger says in which folder its release is, and that is another one each time.
    text = re.sub(r"(?<=sha256 of its last line: )[0-9a-f]{64}", "0" * 64, text)
    # What runs an export is of the version that is installed.
    text = re.sub(r"\b(duckdb|sqlite|python) [0-9]+[.][0-9.]+\w*", r"\1 0.0", text)
    return re.sub(r"\b[0-9]+\.[0-9]{12,}(e-?[0-9]+)?\b", lambda found: f"{float(found[0]):.12g}", text)


def run(line):
    """What a command prints, says on stderr, and leaves with."""
    from nbcfast import _coins
    from nbcfast.cli import main

    out, error = io.StringIO(), io.StringIO()

    def known():  # in place of coins that nobody knows: noise is the same each time
        return _coins.Coins(bytes(32))

    with (
        mock.patch("nbcfast.dp.making.own_coins", known),
        mock.patch("nbcfast.dp.agreeing.own_coins", known),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(error),
    ):
        try:
            main(shlex.split(line))
        except SystemExit as left:
            code = left.code
    return f"$ nbcfast {line}\n{steady(out.getvalue())}{error.getvalue()}leaves with {code}\n"


def judged(folder):
    """What the single file says of a folder, on the standard library alone, and leaves with."""
    from nbcfast import verify_release

    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = verify_release.main([folder])
    return f"$ python verify_release.py {folder}\n{out.getvalue()}{error.getvalue()}leaves with {code}\n"


def frozen(folder):
    """Name of a fixture -> its text, after all commands have been run in this folder."""
    given = prepare(folder)
    found = {}
    before, width = os.getcwd(), os.environ.pop("COLUMNS", None)
    os.chdir(folder)
    try:
        for name, line in COMMANDS.items():
            if name in BEFORE:
                run(BEFORE[name])
            found[f"{name}.txt"] = run(f"{line} --verbose" if line.startswith(AT_LENGTH) else line)
            if name in JSON and "--out" not in line:
                found[f"{name}.json"] = run(f"{line} --json")
            elif name in JSON:
                again = line.replace("--out ", "--out json-")
                found[f"{name}.json"] = run(f"{again} --json")
        for certificate in sorted(folder.glob("*/certificate.json")):
            name = certificate.parent.name
            if not name.startswith("json-"):
                found[f"script/{name}.txt"] = judged(name)
    finally:
        os.chdir(before)
        if width is not None:
            os.environ["COLUMNS"] = width
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in given and not name.startswith("json-"):
            found[f"written/{name}"] = path.read_text(encoding="utf-8")
    return found


@functools.cache
def stored():
    """Name of a fixture -> its text, as it is in tests/fixture."""
    return {
        path.relative_to(FIXTURE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(FIXTURE.rglob("*"))
        if path.is_file()
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        found = frozen(Path(name))
    shutil.rmtree(FIXTURE, ignore_errors=True)
    for name, text in found.items():
        path = FIXTURE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"{len(found)} fixtures, {sum(map(len, found.values())):,} characters", file=sys.stderr)
