"""`nbcfast attack MODEL.onnx`: which counts come back from a plain model."""

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

import nbcfast
from nbcfast.reports import summary_of

onnx = pytest.importorskip("onnx")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MODEL = EXAMPLES / "patients.onnx"


def small(path, rows, alpha, prior=None):
    """A model of one attribute with these counts (classes, values)."""
    shares = np.array(rows, np.float64) + alpha
    of_class = np.sum(rows, axis=1)
    with np.errstate(divide="ignore"):
        logs = np.log(shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)
    prior = np.log(of_class / of_class.sum() if prior is None else prior).astype(np.float32)
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in (("a", logs), ("b", prior))]
    graph = onnx.helper.make_graph([], "weights", [], [], tensors)
    path.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    return path


def test_a_model_gives_its_table_back(run):
    code, out, err = run("attack", MODEL, "--smooth", 1, "--verbose")
    assert (code, err) == (1, "")
    verdict = (
        "COUNTS COME BACK: every count that the model was fitted to is read out of it, if these are of at"
    )
    assert " ".join(out.split()).startswith(f"{verdict} most 1,000,000 rows ")
    said = " ".join(out.split())
    assert "rows 5,000: diabetes 2,014, healthy 2,986" in said
    assert "counts come back 64 of 64, of each value and class, by the floats of the model alone" in said
    assert "priors of the model taken for the shares of the classes: if they were given, other" in said
    assert "up to 1,000,000 rows, and no larger ones" in out
    views = nbcfast.count(EXAMPLES / "patients.csv", "diagnosis")
    shown = [line.rstrip() for line in out.splitlines() if line.startswith("x0 = ")]
    own = [[int(word.replace(",", "")) for word in line.split()[-2:]] for line in shown]
    assert own == views.counts["age"].tolist()


def test_json_has_every_count(run):
    code, out, _ = run("attack", MODEL, "--smooth", "1", "--json")
    found = json.loads(out)
    views = nbcfast.count(EXAMPLES / "patients.csv", "diagnosis")
    assert code == 1
    assert list(found["counts"].values()) == [array.tolist() for array in views.counts.values()]
    assert (found["rows"], found["alpha"], found["bits"], found["up_to_factor"]) == (5_000, "1", 32, False)
    assert found["summary"]["state"] == "shows"


def test_what_was_added_need_not_be_known(run):
    code, out, _ = run("attack", MODEL)
    assert code == 1
    assert out.startswith(
        "COUNTS COME BACK: every count that the model was fitted to is read out of it, up to a"
    )
    assert (
        "1, the one of 514 tried that fits; all counts and it may be the same multiple of those found" in out
    )


def test_another_number_fits_no_table_and_nothing_is_calmed(run):
    code, out, _ = run("attack", MODEL, "--smooth", "0.3")
    assert code == 3
    assert out.startswith("NOT UNDONE: the weights are those of no table that was looked at")
    assert "none, with the number that was given added to counts, has these weights" in out
    assert "That they find nothing is no proof that none does." in out


def test_several_tables_leave_it_open(run, tmp_path):
    path = small(tmp_path / "m.onnx", [[3, 11, 5], [8, 2, 5]], 1)
    code, out, _ = run("attack", path, "--smooth", 1, "--max-rows", 500)
    assert (code, "34: 0 19, 1 15" in out) == (1, True)
    code, out, _ = run("attack", path, "--smooth", 1)
    assert code == 1
    assert (
        "up to 781 rows, and no larger ones: one of 782 rows with 1 added to counts has these weights too"
        in out
    )
    code, out, _ = run("attack", path, "--smooth", 1, "--max-rows", 1_000)
    assert code == 3
    assert out.startswith("NOT DECIDED: several tables have these weights")
    assert "34 rows with 1 added to counts or 782 rows with 1 added to counts, and perhaps others" in out


def test_where_alphas_leave_it_open_the_usual_one_is_proposed(run, tmp_path):
    """(6 + 1) / 20 is (1 + 5/2) / 10: another alpha fits as well, with other counts."""
    path = small(tmp_path / "m.onnx", [[6, 12], [12, 6]], 1)
    # Of up to the usual 1,000,000 rows all alphas take seconds, and say the same.
    code, out, _ = run("attack", path, "--max-rows", 999)
    assert code == 3
    assert out.startswith("NOT DECIDED: several tables have these weights")
    assert f"nbcfast attack {path} --max-rows 999 --smooth 1" in out.replace("\\\n", "").replace("     ", " ")
    # Equal priors may have been given: then 18 and 38 rows have these weights too.
    assert run("attack", path, "--smooth", 1)[0] == 3
    assert run("attack", path, "--smooth", 1, "--max-rows", 50)[0] == 1


def test_zeros_without_smoothing_come_back_whatever_the_rest_is(run, tmp_path):
    prior = np.array([1, 2**0.5]) / (1 + 2**0.5)
    path = small(tmp_path / "m.onnx", [[0, 4], [3, 1]], 0, prior)
    code, out, _ = run("attack", path, "--smooth", 0, "--max-rows", 50, "--verbose")
    assert code == 1
    assert out.startswith("COUNTS COME BACK: 1 of 4 are read out of the model")
    assert "not the shares of the classes: what was found does not rest on them" in out
    assert [line.split() for line in out.splitlines() if line.startswith("x0 = ")] == [
        ["x0", "=", "0", "0", "?"],
        ["x0", "=", "1", "?", "?"],
    ]


def test_many_values_are_cut_short(run, tmp_path):
    rng = np.random.default_rng(4)
    path = small(tmp_path / "m.onnx", rng.integers(1, 40, (2, 230)), 1)
    out = run("attack", path, "--smooth", 1, "--max-rows", 20_000, "--verbose")[1]
    assert ".. and 30 more values: --json has all" in out


def test_a_page_has_the_same(run, tmp_path):
    code, _, _ = run("attack", MODEL, "--smooth", 1, "--report", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert code == 1
    assert "every count that the model was fitted to is read out of it" in page


def test_what_is_in_plain_is_said():
    bayes = pytest.importorskip("sklearn.naive_bayes")
    model = bayes.CategoricalNB().fit([[0], [1], [1]], ["no", "yes", "no"])
    summary = summary_of(nbcfast.attack.model(model, alpha=1, max_rows=10))
    plain = next(finding for finding in summary.findings if finding.about == "in plain")
    assert plain.text.startswith("class_count_, category_count_, alpha: whoever has the object reads them")
    assert plain.state == summary.state == "shows"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--class", "a"), "--class is for a table or a release: of a model the weights alone are read"),
        (("--given", "a=b"), "--given is for a table or a release"),
        (("--null", "x"), "--null is for a table or a release"),
        (("--smooth", "-1"), "--smooth must be from 0 to 1,000,000, got '-1'"),
        (("--max-rows", "0"), "--max-rows must be 1..1000000000, got 0"),
    ],
)
def test_options_are_those_of_a_model(refused, options, message):
    assert message in refused("attack", MODEL, *options)


def test_options_of_models_are_for_no_table(refused):
    table = EXAMPLES / "patients.csv"
    for option in ("--smooth", "--max-rows"):
        said = refused("attack", table, "--class", "diagnosis", option, "3")
        assert f"{option} is for a plain model, an .onnx file" in said


@pytest.mark.parametrize("name", ["model.pkl", "model.joblib", "model.onnx"])
def test_a_pickle_is_refused_unopened(refused, tmp_path, name):
    class Trap:
        def __reduce__(self):
            return (tmp_path / "sprung").touch, ()

    (tmp_path / name).write_bytes(pickle.dumps(Trap()))
    assert "a pickle is not loaded, as loading runs whatever is in it" in refused("attack", tmp_path / name)
    assert not (tmp_path / "sprung").exists()


def test_a_model_that_says_nothing_is_bad_input(refused, tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"")
    assert "expected the logarithms of the probabilities" in refused("attack", tmp_path / "m.onnx")
    assert "none.onnx" in refused("attack", tmp_path / "none.onnx")


def test_a_folder_with_the_name_of_a_model_is_a_folder(refused, tmp_path):
    (tmp_path / "release.onnx").mkdir()
    shutil.copy(MODEL, tmp_path / "release.onnx")
    assert "certificate.json" in refused("attack", tmp_path / "release.onnx")
