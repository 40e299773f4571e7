"""`accuracy`: on the truth behind a disguised test set, the paper's equation (7) corrected."""

import math
from fractions import Fraction
from itertools import product

import pytest
from response_cases import GROUPINGS, both_schemes, table_of

from nbcfast import Viewset, response
from nbcfast.reference import response as reference
from nbcfast.response import KaryScheme, Scheme


def test_equation_7_has_the_order_of_its_matrix():
    """Of accuracies .9, .2, .3, .6 (both groups as they are, one, the other, both reversed): .9, not 5/6."""
    p, q = Fraction(4, 5), Fraction(1, 5)
    true = {
        (0, 0): Fraction(9, 10),
        (0, 1): Fraction(2, 10),
        (1, 0): Fraction(3, 10),
        (1, 1): Fraction(6, 10),
    }
    seen = {
        mask: sum((p if mask[0] == t[0] else q) * (p if mask[1] == t[1] else q) * x for t, x in true.items())
        for mask in true
    }
    assert list(seen.values()) == [Fraction(68, 100), Fraction(38, 100), Fraction(44, 100), Fraction(1, 2)]
    # Predicts 1 for (0, 0) alone; with these answers the shares of right labels are those above.
    rule = Viewset([4, 4], {"a": [[2, 3], [2, 1]], "b": [[2, 3], [2, 1]]})
    answers = [(0, 0, 1)] * 9 + [(1, 1, 1)] * 16 + [(0, 1, 0)] * 6 + [(1, 0, 0)] * 3 + [(1, 1, 0)] * 16
    for (s, t), share in seen.items():
        table = table_of([(a ^ s, b ^ t, c) for a, b, c in answers], ("a", "b", "c"))
        assert (rule.predict(table) == table.codes("c")).mean() == pytest.approx(float(share))
    scheme = Scheme("0.8", [["a"], ["b"]])
    assert response.accuracy(rule, table_of(answers, ("a", "b", "c")), scheme, "c").estimate == Fraction(
        9, 10
    )
    # As printed, the shares of both and of one group reversed change places.
    printed = p * p * seen[0, 0] - p * q * seen[1, 1] - p * q * seen[1, 0] + q * q * seen[0, 1]
    assert printed / (p - q) ** 2 == Fraction(5, 6)


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_accuracy_over_all_coins_is_the_truth(grouping):
    names = ("a", "b", "c")
    plain, scheme = both_schemes(GROUPINGS[grouping], names)
    rule = Viewset([2, 3], {"a": [[2, 1], [0, 2]], "b": [[1, 2], [1, 1]]})
    labels = {(a, b): int(rule.predict({"a": [a], "b": [b]})[0]) for a, b in product((0, 1), repeat=2)}
    records = [(1, 0, 1), (0, 0, 1), (1, 1, 0)][: 2 if len(plain) == 3 else 3]
    truth = Fraction(sum(labels[record[:2]] == record[2] for record in records), len(records))

    def measured(told):
        found = response.accuracy(rule, table_of(told, names), scheme, "c").estimate
        assert found == reference.accuracy(lambda record: labels[record[:2]], told, plain, 2)
        return [found]

    assert reference.expectation(measured, records, plain) == [truth]


def test_standard_error_of_the_accuracy():
    """One group: v D / n by the coins and acc (1 - acc) / n by the draw; here from the answers."""
    rule = Viewset([1, 1], {"a": [[1, 0], [0, 1]]})
    told = table_of([(0, 0)] * 50 + [(1, 0)] * 20 + [(1, 1)] * 30, ("a", "c"))
    found = response.accuracy(rule, told, Scheme("0.8", [["a"]]), "c")
    u = [Fraction(4, 3)] * 80 + [Fraction(-1, 3)] * 20
    mean = sum(u) / 100
    assert found.estimate == mean == 1
    assert found.standard_error == pytest.approx(math.sqrt(sum((x - mean) ** 2 for x in u) / 99 / 100))
    assert (found.disguised, found.n_rows, float(found), found.shown) == (Fraction(4, 5), 100, 1.0, 1.0)
    low, high = found.interval()
    assert (low + high) / 2 == pytest.approx(1.0)
    assert "Accuracy(1.0000 +- 0.0670 from 100 answers" in repr(found)
    assert found.to_dict()["disguised"] == 0.8


def test_variance_of_the_accuracy_by_the_formula():
    """One group: Var = v D / n, D the share of people right on exactly one of record and opposite."""
    rule = Viewset([1, 1], {"a": [[1, 0], [0, 1]], "b": [[1, 1], [1, 1]]})
    labels = {0: 0, 1: 1}
    records = [(1, 0, 1), (0, 0, 1), (1, 1, 1)]
    for columns in ((0, 1), (0, 1, 2)):
        plain, scheme = both_schemes([(Fraction(4, 5), columns)], ("a", "b", "c"))
        right = [
            [labels[one[0]] == one[2] for one in (record, reference.reversed_record(record, columns))]
            for record in records
        ]
        d = Fraction(sum(a != b for a, b in right), 3)
        assert d == (1 if columns == (0, 1) else 0)

        def measured(told, scheme=scheme):
            return [response.accuracy(rule, table_of(told, ("a", "b", "c")), scheme, "c").estimate]

        assert reference.variance(measured, records, plain) == [Fraction(4, 9) * d / 3]


def test_accuracy_takes_bits():
    rule = Viewset([1, 1], {"a": [[1, 0], [0, 1]]})
    told = table_of([(0, 0)] * 50 + [(1, 0)] * 20 + [(1, 1)] * 30, ("a", "c"))
    scheme = Scheme("0.8", [["a"]])
    assert response.accuracy(rule, response.pack(told), scheme, "c") == response.accuracy(
        rule, told, scheme, "c"
    )


@pytest.mark.parametrize("lie", ["each", "tuple"])
@pytest.mark.parametrize("groups", [[["a"], ["c"]], [["a", "c"]], [["a", "b", "c"]], [["b"]]])
def test_accuracy_of_kary_answers_is_unbiased(groups, lie):
    names, sizes = ("a", "b", "c"), [3, 2, 3]
    rule = Viewset([3, 3, 3], {"a": [[2, 1, 0], [1, 0, 2], [0, 2, 1]], "b": [[1, 2, 1], [2, 1, 2]]})
    domains = {
        name: list(range(size))
        for name, size in zip(names, sizes, strict=True)
        if any(name in group for group in groups)
    }
    scheme = KaryScheme("3/5", domains, groups=groups, lie=lie)
    plain = [(Fraction(3, 5), tuple(names.index(name) for name in group)) for group in groups]
    for record in [(0, 1, 0), (2, 0, 1), (1, 1, 1)]:
        right = int(rule.predict({"a": [record[0]], "b": [record[1]]})[0]) == record[2]
        total = Fraction(0)
        for weight, answer in reference.kary_answers(record, plain, sizes, lie):
            table = table_of([answer], names, sizes)
            total += weight * response.accuracy(rule, table, scheme, "c").estimate
        assert total == int(right)
