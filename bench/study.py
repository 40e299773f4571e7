"""python bench/study.py NAME [options]: what the methods do to real data; --help after a name says more.

canonical   a canonical release beside the k-th root, on Adult
evaluate    what is left of a classifier once it may be published, on Adult
templates   what disclosure leaves of a classifier, on Adult, CRX and German credit
response    what randomised answers still teach, on Adult and Breast Cancer
privacy     every method beside the others, with noise and without: the table of docs/evaluation-privacy.md
ledger      what monthly releases give away together, on Adult
engines     what a row costs in Spark, Dask and DuckDB: the tables of docs/engines-costs.md
costs       time and memory of each method against rows, columns, values and classes: docs/costs.md
disk        Mondrian of a file larger than memory
calls       where the microseconds of small calls go
"""

import runpy
import sys

STUDIES = {
    "canonical": "against.canonical",
    "evaluate": "studies.evaluate",
    "templates": "studies.evaluate_templates",
    "response": "studies.response_experiment",
    "privacy": "studies.evaluate_privacy",
    "ledger": "studies.monthly_releases",
    "engines": "studies.engine_costs",
    "costs": "studies.costs",
    "disk": "studies.disk_partition",
    "calls": "studies.small_calls",
}


def main() -> None:
    if sys.argv[1:2] in ([], ["-h"], ["--help"]):
        print(__doc__)
        return
    name = sys.argv.pop(1)
    if name not in STUDIES:
        sys.exit(f"expected a study of {', '.join(STUDIES)}; got {name!r}")
    sys.argv[0] = f"{sys.argv[0]} {name}"  # as it stands in the help of the study
    runpy.run_module(STUDIES[name], run_name="__main__")


if __name__ == "__main__":
    main()
