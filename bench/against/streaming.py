"""Counts of a stream in blocks: what users would pick today, where there is something.

scikit-learn's `partial_fit` adds rows to a classifier and takes none away: it can follow a stream and has no
window, so that it does a part of the job.
"""

from collections.abc import Iterator

import numpy as np
from shared.census import SIZES, Data
from shared.clock import Form, Peers

streaming = Peers()


@streaming.peer("scikit-learn, no window")
def scikit_learn(task: tuple[Data, int]) -> Iterator[Form]:
    from sklearn.naive_bayes import CategoricalNB

    data, block = task
    matrix = data.matrix()

    def run() -> CategoricalNB:
        model = CategoricalNB(min_categories=SIZES)
        for start in range(0, data.n_rows, block):
            rows = slice(start, start + block)
            model.partial_fit(matrix[rows], data.classes[rows], classes=np.arange(data.n_classes))
        return model

    yield Form(
        "CategoricalNB.partial_fit on int64",
        run,
        lambda model: [c.T.astype(np.int64) for c in model.category_count_],
    )
