"""Weights that are read from ONNX files: what skl2onnx writes, other layouts, and what is no such file."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from nbcfast import attack

onnx = pytest.importorskip("onnx")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PRIOR = np.log(np.array([3, 4]) / 7)
JOB = np.log(np.array([[2, 1, 3], [5, 1, 1]]) / [[6], [7]])  # of (classes, values), alpha 1
AGE = np.log(np.array([[1, 4], [2, 4]]) / [[5], [6]])


def write(path, tensors, kind=np.float32, constants=()):
    """A model that holds these tensors, and does nothing."""
    named = [
        onnx.numpy_helper.from_array(
            np.asarray(array, kind if np.asarray(array).dtype.kind == "f" else None), name
        )
        for name, array in tensors.items()
    ]
    nodes = [
        onnx.helper.make_node(
            "Constant", [], [name], value=onnx.numpy_helper.from_array(array.astype(kind), name)
        )
        for name, array in constants
    ]
    nodes.append(onnx.helper.make_node("Identity", ["x"], ["y"]))
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [None]) for name in "xy"]
    graph = onnx.helper.make_graph(nodes, "weights", ends[:1], ends[1:], named)
    path.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    return path


def found_in(path):
    found = attack.model(path, alpha=1, max_rows=60)
    return found.class_counts, {name: array.tolist() for name, array in found.counts.items()}


COUNTS = (3, 4), {"x0": [[1, 4], [0, 0], [2, 0]], "x1": [[0, 1], [3, 3]]}


def test_a_file_that_skl2onnx_wrote_gives_everything():
    found = attack.model(EXAMPLES / "patients.onnx")
    assert (found.bits, found.rows, found.alpha, found.up_to_factor) == (32, 5_000, 1, True)
    assert (found.found, found.cells, found.zeros_found) == (64, 64, 2)
    assert found.classes == ("diabetes", "healthy")
    assert found.in_plain == ()


def test_a_file_has_what_scikit_learn_fits():
    bayes = pytest.importorskip("sklearn.naive_bayes")
    import nbcfast

    table = nbcfast.read_csv(EXAMPLES / "patients.csv")
    codes = np.array([table.codes(name) for name in table.names if name != "diagnosis"]).T
    model = bayes.CategoricalNB().fit(codes, table.codes("diagnosis"))
    found = attack.model(str(EXAMPLES / "patients.onnx"), alpha=1)
    for own, counts in zip(found.counts.values(), model.category_count_, strict=True):
        assert own.tolist() == counts.T.tolist()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    "tensors",
    [
        {"prior": PRIOR, "job": JOB, "age": AGE},
        {"jobs": JOB.T, "ages": AGE.T, "one": np.array([1.0, 2.0]), "row": PRIOR.reshape(1, -1)},
        {"index": np.array([0, 1]), "shape": np.array([-1, 1]), "job": JOB, "age": AGE, "p": PRIOR},
        {"nothing": np.zeros((2, 3)), "job": JOB, "age": AGE, "half": np.log([0.5, 0.5, 1e-9]), "p": PRIOR},
    ],
    ids=["skl2onnx", "turned", "numbers beside", "others beside"],
)
def test_tensors_are_known_by_what_they_add_up_to(tmp_path, tensors, kind):
    assert found_in(write(tmp_path / "model.onnx", tensors, kind)) == COUNTS


def test_constants_and_labels_are_read(tmp_path):
    path = write(
        tmp_path / "model.onnx",
        {"labels": np.array(["no", "yes"], object), "prior": PRIOR},
        constants=[("job", JOB), ("age", AGE)],
    )
    assert found_in(path) == COUNTS
    assert attack.model(path, alpha=1, max_rows=60).classes == ("no", "yes")


def test_shapes_of_tensors_are_no_labels(tmp_path):
    weights = {"shape": np.array([-1, 1]), "job": JOB.T, "prior": PRIOR}
    texts = write(tmp_path / "texts.onnx", {**weights, "labels": np.array(["no", "yes"], object)})
    assert attack.model(texts, alpha=1, max_rows=60).classes == ("no", "yes")
    numbers = write(tmp_path / "numbers.onnx", {**weights, "labels": np.array([5, 7])})
    assert attack.model(numbers, alpha=1, max_rows=60).classes == (0, 1)  # which of them nobody says


@pytest.mark.parametrize("turn", [np.transpose, np.asarray])
def test_as_many_values_as_classes_are_turned_as_their_shares_add_up(tmp_path, turn):
    """Those of a value in two classes may add up to nearly 1 as well."""
    of_class = np.array([[1999, 4000], [3998, 2003]])  # (classes, values)
    logs = np.log(of_class / of_class.sum(axis=1, keepdims=True))
    prior = np.log(of_class.sum(axis=1) / of_class.sum())
    path = write(tmp_path / "turned.onnx", {"prior": prior, "logs": turn(logs)}, np.float64)
    found = attack.model(path, alpha=0, max_rows=20_000)
    assert found.counts["x0"].T.tolist() == of_class.tolist()


def outside(tmp_path):
    path = write(tmp_path / "model.onnx", {"prior": PRIOR, "job": JOB})
    model = onnx.load(path)
    model.graph.initializer[0].data_location = onnx.TensorProto.EXTERNAL
    path.write_bytes(model.SerializeToString())
    return path


def with_bytes(name, content):
    def made(tmp_path):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return made


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda tmp_path: write(tmp_path / "m.onnx", {"prior": PRIOR}), "got none among 1 tensors"),
        (
            lambda tmp_path: write(tmp_path / "m.onnx", {"job": JOB}),
            "expected the logarithms of the probabilities",
        ),
        (outside, "expected an ONNX model, got something else"),
        (with_bytes("m.onnx", b"age,sex\n1,2\n"), "expected an ONNX model, got something else"),
        (with_bytes("m.onnx", b""), "got none among 0 tensors"),
        (
            with_bytes("m.onnx", pickle.dumps({1: 2})),
            "a pickle is not loaded, as loading runs whatever is in it",
        ),
        (with_bytes("m.joblib", b"\x78\x9c"), "a pickle is not loaded, as loading runs whatever is in it"),
        (with_bytes("M.PKL", b"(I1\n."), "load it yourself if you trust who made it"),
        (lambda tmp_path: tmp_path, "expected an ONNX file, got a folder or a device"),
    ],
)
def test_what_is_no_such_model_is_refused(made, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        attack.model(made(tmp_path))


def test_a_pickle_is_never_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return (tmp_path / "sprung").touch, ()

    for name in ("model.pkl", "model.onnx"):
        (tmp_path / name).write_bytes(pickle.dumps(Trap()))
        with pytest.raises(ValueError, match="a pickle is not loaded"):
            attack.model(tmp_path / name)
    assert not (tmp_path / "sprung").exists()


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.onnx"):
        attack.model(tmp_path / "none.onnx")


def test_onnx_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"an \.onnx file needs onnx: pip install onnx$"):
        attack.model(EXAMPLES / "patients.onnx")


def test_a_file_that_is_too_long_is_not_read(monkeypatch):
    from nbcfast.attack import onnx_weights

    monkeypatch.setattr(onnx_weights, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="at most 100 bytes, got a longer one"):
        attack.model(EXAMPLES / "patients.onnx")
