"""Write patients.onnx: a plain CategoricalNB of patients.csv, as skl2onnx writes models for others to run.

It is there to be attacked: `nbcfast attack examples/patients.onnx` reads every count of the table out of it.
Needs scikit-learn and skl2onnx; with the same versions of both the same file comes out.

    python make_patients_onnx.py [FOLDER]
"""

import csv
import sys
from pathlib import Path

import numpy as np
from skl2onnx import to_onnx
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OrdinalEncoder

HERE = Path(__file__).resolve().parent


def model():
    """The classifier as scikit-learn fits it by default, and codes as it takes them."""
    with open(HERE / "patients.csv", encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    values, labels = [row[:-1] for row in rows], [row[-1] for row in rows]
    codes = OrdinalEncoder(dtype=np.int64).fit_transform(values)
    return CategoricalNB().fit(codes, labels), codes


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    fitted, codes = model()
    content = to_onnx(fitted, codes[:1]).SerializeToString(deterministic=True)
    (folder / "patients.onnx").write_bytes(content)
