"""Percentages are taken wherever a share is, on the command line and in Python, and nowhere else."""

import random
import shlex
from fractions import Fraction

import pytest

import nbcfast
from nbcfast import associations, attack, canonical, closeness, dp, response, safety, skyline, templates
from nbcfast._core.numbers import exact, exact_share

PUBLISH = "publish p.csv --class ill --columns job,sex --amplification 4 --accept-answers --out o --overwrite"
RISK = "risk p.csv --view age,job --view job,ill --identity age --attribute ill"
# A command with a place for the share, and a share in three forms.
SHARES = {
    f"{PUBLISH} --min-flip SHARE": ("10%", "0.1", "1/10"),
    f"{PUBLISH} --min-trace SHARE": ("50%", "0.5", "1/2"),
    "publish p.csv --class ill --columns job --breach 50% SHARE --accept-answers --out o --overwrite": (
        "80%",
        "0.8",
        "4/5",
    ),
    "advise p.csv --class ill --columns job,sex --min-flip SHARE": ("1%", "0.01", "1/100"),
    "publish p.csv --class ill --amplification 4 --domain d.json --dp-epsilon 1 --dp-delta SHARE --out o "
    "--overwrite --columns age": (
        "0.1%",
        "0.001",
        "1/1000",
    ),
    "attack p.csv --class ill --breach 50% SHARE --prior no=60%,yes=2/5": ("80%", "0.8", "4/5"),
    "closeness p.csv --class ill --prior no=SHARE,yes=1/4": ("75%", "0.75", "3/4"),
    "skyline check p.csv --by age --sensitive ill --point 0,0,0,SHARE": ("90%", "0.9", "9/10"),
    "skyline find p.csv --by age --sensitive ill --confidence SHARE --json": ("95%", "0.95", "19/20"),
    "skyline anonymize p.csv --by age,job --sensitive ill --closeness SHARE --out o.csv --overwrite": (
        *("60%", "0.6", "3/5"),
    ),
    "templates check p.csv --template 'job -> ill=yes <= SHARE'": ("60 %", "0.6", "3/5"),
    "response plan --theta SHARE --groups ill --n 100": ("80%", "0.8", "4/5"),
    "response plan --theta 0.8 --groups ill --error SHARE": ("2%", "0.02", "1/50"),
    "response plan --theta 0.8 --groups ill --accuracy SHARE": ("2.5%", "0.025", "1/40"),
    "response disguise p.csv --theta SHARE --groups ill --seed 1 --out o --overwrite": ("80%", "0.8", "4/5"),
    f"{RISK} --threshold SHARE": ("50%", "0.5", "1/2"),
    f"{RISK} --error SHARE --confidence 90%": ("1%", "0.01", "1/100"),
}


@pytest.fixture
def there(tmp_path, monkeypatch):
    rng = random.Random(1)
    rows = [
        f"{rng.randrange(20, 26)},{rng.choice('abc')},{rng.choice('fm')},{'yn'[i % 2]}" for i in range(80)
    ]
    text = "\n".join(["age,job,sex,ill", *rows])
    (tmp_path / "p.csv").write_text(text.replace(",y", ",yes").replace(",n", ",no"))
    (tmp_path / "d.json").write_text('{"age": {"edges": [20, 23, 26]}, "ill": ["no", "yes"]}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", SHARES, ids=lambda command: " ".join(command.split()[:2]))
def test_a_share_is_one_number_however_it_is_typed(command, run, there):
    found = []
    for typed in SHARES[command]:
        code, *printed = run(*(word.replace("SHARE", typed) for word in shlex.split(command)))
        assert code in (0, 1), printed
        for form in SHARES[command]:
            printed = [text.replace(form, "SHARE") for text in printed]
        found.append((code, *printed))
    if "--dp" not in command:  # of which coins decide
        assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (f"{PUBLISH} --min-flip 101%", "--min-flip must be a number from 0 to 1, or None; got 101%"),
        ("skyline find p.csv --by age --sensitive ill --confidence 101%", "--confidence must be in (0, 1]"),
        ("response plan --theta 101% --groups ill --n 9", "--theta must be in [0, 1], got 101%"),
        (
            "response plan --theta 0.8 --groups ill --error 100%",
            "--error must be above 0 and below 1, or 100%",
        ),
        (f"{RISK} --threshold 101%", "--threshold"),
        ("closeness p.csv --class ill --prior no=75%,yes=26%", "--prior must add up to 1 exactly, got 1.01"),
        (f"{PUBLISH} --amplification 400%", "--amplification must be a number without %, got '400%'"),
        (f"{PUBLISH} --smooth 50%", "--smooth must be a number without %, got '50%'"),
        (f"{PUBLISH} --max-bits 50%", "--max-bits must be a number without %, got '50%'"),
        (f"{PUBLISH} --dp-epsilon 50%", "--dp-epsilon must be a number without %, got '50%'"),
        (
            "closeness p.csv --class ill --prior no=1/2,yes=1/2 --r 50%",
            "--r must be a number without %, got '50%'",
        ),
        ("skyline anonymize p.csv --by age --sensitive ill --diversity 50% 2 --out o", "--diversity"),
        ("inspect p.csv --class ill --max-values 50%", "Invalid value for '--max-values'"),
    ],
    ids=lambda part: " ".join(part.split()[-2:]),
)
def test_what_is_no_share_is_refused(command, message, refused, there):
    assert refused(*shlex.split(command)).startswith(message)


@pytest.mark.parametrize(
    "text", ["%", " %", "75  %", "75\u00a0%", "75%%", " 75%", "75% ", "%75", "7 5%", "x%", "\u0667%"]
)
def test_percentages_that_are_none(text):
    for where in ("share", "--confidence"):
        with pytest.raises(ValueError, match=f"^{where} must be a (finite )?number"):
            exact_share(text, where)


def test_percentages_in_python():
    assert exact_share("75%", "it") == exact_share("75 %", "it") == exact_share(0.75, "it") == Fraction(3, 4)
    assert exact_share("400%", "it") == 4  # what it is a share of says how large it may be
    assert exact_share("-0%", "it") == 0
    with pytest.raises(ValueError, match=r"^amplification must be a number without %, got '400%'$"):
        exact("400%", "amplification")
    table = nbcfast.Table({"a": [0, 0, 1, 1], "b": [1.0, 2.0, 3.0, 4.0], "ill": ["y", "n", "y", "n"]})
    views = nbcfast.count(table, "ill", ["a"])
    groups = skyline.group(table, ["a"], "ill")
    half = Fraction(1, 2)
    assert groups.is_alpha_k("50%", 2) is groups.is_alpha_k(half, 2) is True
    assert table.bin("b", quantiles=["25%", "75 %"]).domain("b") == table.bin(
        "b", quantiles=[0.25, 0.75]
    ).domain("b")
    assert skyline.find(groups, "90%") == skyline.find(groups, "0.9")
    assert safety.limit("50%", "80%") == safety.limit(half, "4/5")
    assert attack.breach(views, "50%", "80%").breached == attack.breach(views, half, 0.8).breached
    assert (
        closeness.achieved(views, {"y": "50%", "n": "1/2"}).r
        == closeness.achieved(views, {"y": half, "n": half}).r
    )
    assert templates.Template(["a"], ("ill", "y"), "60%").limit == Fraction(3, 5)
    scheme = response.Scheme(theta="80%", groups=[["ill"]])
    plans = [response.plan(None, scheme, standard_error=error).n for error in ("2%", 0.02)]
    assert plans[0] == plans[1]
    assert dp.epsilon_of("1/2", "0.1%") == dp.epsilon_of(half, "1/1000")
    assert canonical.Limits(min_flip="99%") == canonical.Limits(min_flip=0.99)
    assert associations.results.check_threshold("50%") == half
