"""Noisy counts: what they are, what they give, and what is refused."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nbcfast
from nbcfast import SUPPRESSED, Table, Viewset, _coins, canonical, dp
from nbcfast.dp.making import with_noise
from nbcfast.dp.realistic import class_totals, projected, realistic, spread
from nbcfast.reference import dp as reference
from nbcfast.views.noise import Noise, sensitivity_of

KEY = bytes(range(32))
VIEWS = Viewset(
    [300, 200],
    {"job": [[300, 20], [0, 180]], "town": [[100, 50], [150, 50], [50, 100]]},
    classes=["no", "yes"],
)


def coins(key=KEY):
    return _coins.Coins(key)


def laplace(n, epsilon, **others):
    epsilon = Fraction(epsilon)
    return Noise(mechanism="discrete laplace", epsilon=epsilon, n_attributes=n, sensitivity=n + 1, **others)


class TestResult:
    def test_it_is_positive_and_realistic_and_says_what_was_done(self):
        private = dp.counts(VIEWS, epsilon="0.5", coins=coins())
        assert private.is_realistic()
        assert all(array.min() >= 1 for array in private.counts.values())
        assert private.noise == laplace(2, "1/2")
        assert private.noise.scale == 6
        assert (private.attributes, private.domains, private.class_domain) == (
            VIEWS.attributes, VIEWS.domains, VIEWS.class_domain,
        )  # fmt: skip
        assert VIEWS.noise is None
        assert "discrete laplace noise, epsilon 0.5" in repr(private)
        assert 14 * 500 < private.n_rows < 18 * 500

    def test_it_is_what_the_specification_makes_of_the_same_words(self):
        words = np.empty(4096, np.uint64)
        coins().words(words)
        stream = iter(words.tolist())
        arrays = [VIEWS.class_counts, *VIEWS.counts.values()]
        noisy = [
            np.array([int(x) + reference.laplace(6, stream) for x in array.ravel()]).reshape(array.shape)
            for array in arrays
        ]
        totals, tables = reference.realistic(
            noisy[0].tolist(), [t.tolist() for t in noisy[1:]], 1 + Fraction(6, 2)
        )
        private = dp.counts(VIEWS, epsilon="0.5", coins=coins())
        assert private.class_counts.tolist() == totals
        assert [array.tolist() for array in private.counts.values()] == tables

    def test_equality_and_pickles_know_of_the_noise(self):
        private = dp.counts(VIEWS, epsilon=1, coins=coins())
        again = pickle.loads(pickle.dumps(private))
        assert again == private
        assert (again.noise, again.weighted) == (private.noise, True)
        bare = Viewset.from_parts(private.class_counts, private.counts, private.class_domain, private.domains)
        assert bare != private
        assert dp.counts(VIEWS, epsilon=1, coins=coins()) == private
        assert dp.counts(VIEWS, epsilon=1, neighbours="replace", coins=coins()) != private

    def test_smoothing_keeps_it_and_merging_is_refused(self):
        private = dp.counts(VIEWS, epsilon=1)
        assert private.smoothed(1).noise == private.noise
        for merge in (lambda: private + VIEWS, lambda: VIEWS + private, lambda: private - private):
            with pytest.raises(ValueError, match="views with noise are not merged"):
                merge()

    def test_every_method_takes_it(self):
        private = dp.counts(VIEWS, epsilon=1, coins=coins())
        assert canonical.release(private, 4).views.is_realistic()
        assert nbcfast.safety_transform(private, 4).views.is_realistic()

    @pytest.mark.parametrize(
        "views",
        [
            Viewset([0, 0], {"a": [[0, 0]] * 100, "b": [[0, 0]]}),  # no rows; a hundred values, and one
            Viewset([0], {"a": [[0], [0]]}),
            Viewset([40, 0, 7], {"a": [[40, 0, 7]], "b": [[1, 0, 0], [39, 0, 7]]}),  # an empty class
            Viewset([5, 6], {}),
            Viewset([2**70, 3], {"a": [[2**70, 0], [0, 3]]}),
        ],
        ids=["no rows", "one class", "empty class", "no attributes", "long counts"],
    )
    @pytest.mark.parametrize("asked", [{"epsilon": 1}, {"epsilon": "1/1000"}, {"rho": "1/10"}])
    def test_of_any_table_something_is_made(self, views, asked):
        for byte in range(5):
            private = dp.counts(views, **asked, coins=coins(bytes([byte]) * 32))
            assert private.is_realistic()
            assert private.class_counts.min() >= 1
            assert all(array.min() >= 1 for array in private.counts.values())

    def test_without_noise_to_speak_of_it_decides_as_before(self):
        private = dp.counts(VIEWS, epsilon=10**6)
        rows = {"job": [0, 0, 0, 1, 1, 1], "town": [0, 1, 2, 0, 1, 2]}
        assert private.predict(rows).tolist() == VIEWS.predict(rows).tolist()


class TestWhichNoise:
    @pytest.mark.parametrize(
        ("n", "laplace_variance", "gaussian_variance"), [(10, 242, 226), (15, 512, 328), (20, 882, 431)]
    )
    def test_the_smaller_variance_from_ten_attributes_on(self, n, laplace_variance, gaussian_variance):
        views = Viewset([3, 4], [[[3, 4]]] * n)
        noise = dp.counts(views, epsilon=1, delta="1e-6").noise
        assert (noise.mechanism, noise.epsilon, noise.delta) == ("discrete gaussian", 1, Fraction(1, 10**6))
        assert (noise.rho, noise.sensitivity) == (dp.rho_of(1, "1e-6"), n + 1)
        assert round(noise.variance) == gaussian_variance
        assert (
            f"Laplace noise for the same epsilon, and no delta, has variance {laplace_variance}" in noise.text
        )
        alone = dp.counts(views, epsilon=1).noise
        assert (alone.mechanism, alone.variance, alone.delta) == ("discrete laplace", laplace_variance, 0)

    def test_laplace_below_ten_and_where_the_gaussian_varies_more(self):
        nine = Viewset([3, 4], [[[3, 4]]] * 9)
        noise = dp.counts(nine, epsilon=1, delta="1e-6").noise
        assert (noise.mechanism, noise.delta) == ("discrete laplace", 0)
        assert "needs no delta" in noise.text
        ten = Viewset([3, 4], [[[3, 4]]] * 10)
        assert dp.counts(ten, epsilon=1, delta="1e-12").noise.mechanism == "discrete laplace"
        assert dp.counts(ten, epsilon=3, delta="1e-6").noise.mechanism == "discrete laplace"

    def test_rho_takes_the_gaussian_and_delta_beside_it_says_an_epsilon(self):
        noise = dp.counts(VIEWS, rho="1/10").noise
        assert (noise.mechanism, noise.epsilon, noise.delta, noise.rho) == (
            "discrete gaussian", None, 0, Fraction(1, 10),
        )  # fmt: skip
        assert noise.sigma_squared == 15
        told = dp.counts(VIEWS, rho="1/10", delta="1e-6").noise
        assert (told.epsilon, told.rho) == (dp.epsilon_of("1/10", "1e-6"), Fraction(1, 10))

    def test_more_rows_a_person_and_replacing(self):
        noise = dp.counts(VIEWS, epsilon=1, neighbours="replace", rows_per_person=3).noise
        assert (noise.sensitivity, noise.scale) == (18, 18)
        assert "replacing a person with up to 3 rows" in noise.text
        noise = dp.counts(VIEWS, rho=1, neighbours="replace", rows_per_person=3).noise
        assert (noise.sensitivity, noise.sigma_squared) == (54, 27)

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({}, "expected one of epsilon and rho, got neither"),
            ({"epsilon": 1, "rho": 1}, "expected one of epsilon and rho, got both"),
            ({"delta": "1e-6"}, "expected one of epsilon and rho, got neither"),
            ({"epsilon": 0}, "epsilon must be above 0, got 0"),
            ({"epsilon": -1}, "epsilon must be above 0"),
            ({"epsilon": float("nan")}, "epsilon must be a finite number"),
            ({"rho": 0}, "rho must be above 0"),
            ({"epsilon": 1, "delta": 0}, "delta must be above 0"),
            ({"epsilon": 1, "delta": 1}, "delta must be below 1"),
            ({"epsilon": "1e-50"}, "epsilon: exact limits have at most 38 digits"),
            ({"epsilon": 1, "neighbours": "both"}, "neighbours must be 'add-remove' or 'replace'"),
            ({"epsilon": 1, "rows_per_person": 0}, r"rows_per_person must be 1..1000000000, got 0"),
        ],
    )
    def test_what_is_no_demand(self, asked, message):
        with pytest.raises(ValueError, match=message):
            dp.counts(VIEWS, **asked)

    def test_a_record_that_does_not_fit_itself_is_refused(self):
        fields = {
            "mechanism": "discrete laplace",
            "epsilon": Fraction(1),
            "sensitivity": 3,
            "n_attributes": 2,
        }
        assert Noise(**fields).variance == 18
        for wrong in (
            {"sensitivity": 4},
            {"epsilon": None},
            {"epsilon": Fraction(0)},
            {"delta": Fraction(1, 2)},
            {"rho": Fraction(1)},
            {"mechanism": "discrete gaussian"},
            {"mechanism": "laplace"},
            {"neighbours": "replace"},
        ):
            with pytest.raises(ValueError, match=r"must be|has an epsilon|has a rho"):
                Noise(**{**fields, **wrong})


def declared(**columns):
    return Table({"a": ["x", "y", "x"], "class": ["no", "yes", "no"]}, domains=columns)


class TestRefusals:
    """What rows bring in is refused, and no message tells what it was."""

    def test_domains_that_come_from_rows(self):
        views = nbcfast.count(declared(a=["x", "y"]), "class")
        with pytest.raises(ValueError, match=r"the classes come from the rows.*declare them") as refused:
            dp.counts(views, epsilon=1)
        assert "no" not in str(refused.value).replace("nobody", "").split()
        views = nbcfast.count(declared(), "class", classes=["no", "yes"])
        with pytest.raises(ValueError, match=r"attribute 'a': its values come from the rows.*domain file"):
            dp.counts(views, epsilon=1)
        views = nbcfast.count(declared(a=["x", "y", "z"]), "class", classes=["no", "yes", "maybe"])
        assert dp.counts(views, epsilon=1).classes == ("no", "yes", "maybe")

    def test_an_open_tail_comes_from_rows(self):
        table = Table(
            {"age": [20, 30, None], "class": ["no", "yes", "no"]}, domains={"class": ["no", "yes"]}
        ).bin("age", edges=[0, 25, 100])
        for part in (table, table.take(slice(0, 2))):  # with a null, and without one
            with pytest.raises(ValueError, match="attribute 'age': whether null is in its domain comes from"):
                dp.counts(nbcfast.count(part, "class"), epsilon=1)
        closed = Table(table, domains={"age": [*table.domain("age")]})
        assert None in dp.counts(nbcfast.count(closed, "class"), epsilon=1).domain("age")

    def test_codes_whose_largest_one_is_found_in_the_rows(self):
        """One row with a code beyond all others makes a table longer, which no noise hides."""
        codes, labels = [[0, 1], [1, 0]], [0, 1]
        with pytest.raises(ValueError, match=r"the classes come from the rows.*n_classes of"):
            dp.counts(Viewset.from_codes(codes, labels, sizes=[2, 2]), epsilon=1)
        with pytest.raises(ValueError, match=r"'A1': its values come from the rows.*sizes of"):
            dp.counts(Viewset.from_codes(codes, labels, n_classes=2), epsilon=1)
        known = Viewset.from_codes(codes, labels, sizes=[2, 3], n_classes=2)
        assert dp.counts(known, epsilon=1).domain("A2") == (0, 1, 2)

    def test_weights(self):
        columns = {"a": ["x", "y"], "class": ["no", "yes"], "w": [1, 2]}
        domains = {"a": ["x", "y"], "class": ["no", "yes"]}
        weighted = Table(columns, domains=domains, weights="w")
        views = [
            nbcfast.count(weighted, "class"),
            Viewset.from_codes([[0], [1]], [0, 1], weights=[1, 1]),
            VIEWS.smoothed(1),
            nbcfast.count(weighted, "class") + nbcfast.count(weighted, "class"),
            pickle.loads(pickle.dumps(nbcfast.count(weighted, "class"))),
        ]
        for one in views:
            with pytest.raises(ValueError, match=r"must be counts of whole rows.*without weights"):
                dp.counts(one, epsilon=1)

    def test_batches_with_weights(self, tmp_path):
        path = tmp_path / "rows.csv"
        path.write_text("a,class,w\nx,no,1\ny,yes,1\n", encoding="utf-8")
        views = nbcfast.count(path, "class", weights="w")
        assert views.weighted
        assert not nbcfast.count(path, "class", ["a"]).weighted

    def test_noise_on_noise_and_what_no_table_has(self):
        with pytest.raises(ValueError, match="views have noise already"):
            dp.counts(dp.counts(VIEWS, epsilon=1), epsilon=1)
        with pytest.raises(ValueError, match="do not add up to the class counts") as refused:
            dp.counts(Viewset([731, 2], [[[5, 2]]]), epsilon=1)
        assert not any(sign.isdigit() for sign in str(refused.value))
        with pytest.raises(TypeError, match="views must be a Viewset, got list"):
            dp.counts([1], epsilon=1)

    def test_suppressed_values_are_values_where_they_are_declared(self):
        table = Table(
            {"a": ["x", SUPPRESSED], "class": [0, 1]}, domains={"a": ["x", SUPPRESSED], "class": [0, 1]}
        )
        assert dp.counts(nbcfast.count(table, "class"), epsilon=1).domain("a") == ("x", SUPPRESSED)


def tables(n_attributes, sizes, n_classes, least=0):
    row = st.tuples(
        *(st.integers(0, sizes[i] - 1) for i in range(n_attributes)), st.integers(0, n_classes - 1)
    )
    return st.lists(row, min_size=least, max_size=6)


def flat(rows, sizes, n_classes):
    totals, counts = reference.views(rows, sizes, n_classes)
    return totals + [count for table in counts for line in table for count in line]


class TestPrivacy:
    @given(tables(3, (2, 3, 1), 2), tables(3, (2, 3, 1), 2, 2), tables(3, (2, 3, 1), 2, 2))
    def test_no_person_moves_counts_by_more_than_the_sensitivity(self, others, of_person, of_other):
        sizes, n_classes = (2, 3, 1), 2
        k = max(len(of_person), len(of_other))
        base = flat(others, sizes, n_classes)
        one = flat(others + of_person, sizes, n_classes)
        two = flat(others + of_other, sizes, n_classes)
        for neighbours, a, b in (("add-remove", base, one), ("replace", one, two)):
            moved = [abs(x - y) for x, y in zip(a, b, strict=True)]
            assert sum(moved) <= sensitivity_of("discrete laplace", 3, neighbours, k)
            assert sum(x * x for x in moved) <= sensitivity_of("discrete gaussian", 3, neighbours, k)

    @pytest.mark.parametrize("k", [1, 2, 5])
    @pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
    def test_and_some_person_moves_them_by_as_much(self, neighbours, k):
        sizes, n_classes = (2, 3), 2
        a = flat([(0, 0, 0)] * k, sizes, n_classes)
        b = flat([] if neighbours == "add-remove" else [(1, 2, 1)] * k, sizes, n_classes)
        moved = [abs(x - y) for x, y in zip(a, b, strict=True)]
        assert sum(moved) == sensitivity_of("discrete laplace", 2, neighbours, k)
        assert sum(x * x for x in moved) == sensitivity_of("discrete gaussian", 2, neighbours, k)

    @pytest.mark.parametrize(
        ("epsilon", "neighbours", "k"),
        [("1", "add-remove", 1), ("1/3", "add-remove", 1), ("2", "replace", 1), ("7/5", "replace", 3)],
    )
    def test_ten_thousand_outputs_are_at_most_e_to_epsilon_likelier_on_either_table(
        self, epsilon, neighbours, k
    ):
        """Exactly: the logarithm of the ratio is a rational. Most of these outputs are near both tables."""
        sizes, n_classes, rng = (3, 2), 2, np.random.default_rng(7)
        people = [(int(rng.integers(3)), int(rng.integers(2)), int(rng.integers(2))) for _ in range(12)]
        here = people + [(0, 0, 0)] * k
        there = people + ([(2, 1, 1)] * k if neighbours == "replace" else [])
        a, b = flat(here, sizes, n_classes), flat(there, sizes, n_classes)
        noise = dp.counts(
            Viewset.from_codes([row[:2] for row in here], [row[2] for row in here], sizes=sizes, n_classes=2),
            epsilon=epsilon, neighbours=neighbours, rows_per_person=k,
        ).noise  # fmt: skip
        source, most = coins(), Fraction(0)
        for _ in range(5_000):
            for one, other in ((a, b), (b, a)):
                (output,) = with_noise([np.array(one)], noise, source)
                ratio = reference.log_ratio(output.tolist(), one, other, noise.scale)
                assert abs(ratio) <= Fraction(epsilon)
                most = max(most, ratio)
        assert most == Fraction(epsilon)  # and is reached: the noise is not more than it has to be

    @pytest.mark.parametrize(("n", "epsilon", "delta"), [(10, 1, 1e-6), (10, 0.1, 1e-6), (15, 3, 1e-9)])
    def test_the_gaussian_keeps_its_delta(self, n, epsilon, delta):
        """P(A) - e^eps Q(A) at its largest: the loss is a sum of n + 1 draws, and their law a convolution."""
        noise = dp.counts(Viewset([3, 4], [[[3, 4]]] * n), rho=dp.rho_of(epsilon, delta), delta=delta).noise
        assert noise.epsilon <= Fraction(str(epsilon)) * Fraction(10**8 + 1, 10**8)
        law = reference.gaussian_law(noise.sigma_squared)
        reach = max(law)
        one = np.array([law[x] for x in range(-reach, reach + 1)])
        total = np.ones(1)
        for _ in range(n + 1):
            total = np.convolve(total, one)
        # ln P(x)/Q(x) of counts moved by 1 each: (2 sum + n + 1) / (2 sigma^2).
        sums = np.arange(len(total)) - reach * (n + 1)
        loss = (2 * sums + n + 1) / (2 * float(noise.sigma_squared))
        gained = np.maximum(0, -np.expm1(epsilon - loss)) @ total
        assert delta / 20 < gained <= delta


class TestConversion:
    @pytest.mark.parametrize("rho", ["1e-9", "0.001", "0.0243", "1/8", "1", "30", "1e6"])
    @pytest.mark.parametrize("delta", ["1e-30", "1e-6", "0.01", "0.5"])
    def test_it_is_the_least_of_the_formula(self, rho, delta):
        """Beside a dense grid in floats: no u does better, and the one found does as well."""
        epsilon = float(dp.epsilon_of(rho, delta))
        with np.errstate(all="ignore"):
            u = np.exp(np.linspace(-25, 35, 600_001))
            log_delta = np.log(float(Fraction(delta)))
            values = (1 + u) * float(Fraction(rho)) - log_delta / u - (1 + 1 / u) * np.log1p(u) + np.log(u)
        assert epsilon == pytest.approx(max(float(np.nanmin(values)), 0), rel=1e-6, abs=1e-9)

    @given(st.fractions("1/1000", 50, max_denominator=10**6), st.sampled_from(["1e-9", "1e-6", "1/3"]))
    def test_there_and_back_loses_only_digits(self, epsilon, delta):
        if epsilon == 0:
            return
        rho = dp.rho_of(epsilon, delta)
        back = dp.epsilon_of(rho, delta)
        assert back <= epsilon * Fraction(10**8 + 1, 10**8)
        assert dp.epsilon_of(rho * Fraction(10**7 + 1, 10**7), delta) > epsilon * (1 - Fraction(1, 10**8))

    def test_they_are_rounded_to_the_safe_side_and_short(self):
        rho = dp.rho_of(1, "1e-6")
        assert rho == Fraction("0.0243559703")
        assert dp.epsilon_of("0.5", "1e-6") == Fraction("5.22153445")

    def test_no_delta_of_one_and_no_rho_of_none(self):
        for call, message in (
            (lambda: dp.epsilon_of(1, 1), "delta must be below 1"),
            (lambda: dp.epsilon_of(0, "1e-6"), "rho must be above 0"),
            (lambda: dp.rho_of(-1, "1e-6"), "epsilon must be above 0"),
        ):
            with pytest.raises(ValueError, match=message):
                call()


class TestNoisy:
    def test_raw_integers_of_any_shape(self):
        exact = np.arange(24).reshape(2, 3, 4)
        drawn = dp.noisy(exact, epsilon=1, sensitivity=1, coins=coins())
        words = np.empty(4096, np.uint64)
        coins().words(words)
        stream = iter(words.tolist())
        expected = [x + reference.laplace(1, stream) for x in range(24)]
        assert (drawn.dtype, drawn.shape, drawn.ravel().tolist()) == (np.int64, (2, 3, 4), expected)
        words = iter(words.tolist())
        drawn = dp.noisy(exact.ravel(), rho="1/8", squared_sensitivity=3, coins=coins())
        assert drawn.tolist() == [x + reference.gaussian(12, words) for x in range(24)]

    def test_of_which_kind_they_are_tells_no_more_than_the_sums(self):
        """Whether a count is below 2^62 is hidden where nearly no noise moves its sum."""
        for count in (2**62 - 3, 2**62, 2**62 + 3, 2**63 - 1):
            made = dp.noisy([count], epsilon=10**30, sensitivity=1)
            assert (made.dtype, made.tolist()) == (np.int64, [count])
        made = dp.noisy([2**63], epsilon=10**30, sensitivity=1)
        assert (made.dtype, made.tolist()) == (object, [2**63])

    def test_long_counts(self):
        drawn = dp.noisy([2**63 - 1, 2**80], epsilon="1/10", sensitivity=2)
        assert drawn.dtype == object
        assert all(abs(a - b) < 10_000 for a, b in zip(drawn.tolist(), [2**63 - 1, 2**80], strict=True))
        assert dp.noisy([2**62 + 5], epsilon=1, sensitivity=1).tolist()[0] > 2**61
        assert dp.noisy([], epsilon=1, sensitivity=1).shape == (0,)

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ({}, "expected one of epsilon and rho, got neither"),
            ({"epsilon": 1}, "epsilon goes with sensitivity"),
            ({"epsilon": 1, "squared_sensitivity": 1}, "epsilon goes with sensitivity"),
            ({"rho": 1, "sensitivity": 1}, "rho goes with squared_sensitivity"),
            ({"epsilon": 1, "sensitivity": 0}, "sensitivity must be at least 1, got 0"),
            ({"rho": 1, "squared_sensitivity": 0}, "squared_sensitivity must be at least 1, got 0"),
        ],
    )
    def test_what_is_no_demand(self, asked, message):
        with pytest.raises(ValueError, match=message):
            dp.noisy([1], **asked)

    def test_errors_tell_no_count(self):
        for wrong in ([4711.5], [-4711], [[1], [4711, 2]]):
            with pytest.raises((TypeError, ValueError), match="counts must be") as refused:
                dp.noisy(wrong, epsilon=1, sensitivity=1)
            assert "4711" not in str(refused.value)
            assert refused.value.__cause__ is None
            assert refused.value.__suppress_context__


class TestMadeRealistic:
    @given(st.lists(st.integers(-30, 60), min_size=1, max_size=7), st.fractions(1, 90, max_denominator=60))
    def test_projection_is_the_nearest_point(self, numbers, total):
        taken = projected(numbers, total)
        assert [max(number - taken, 0) for number in numbers] == reference.projected(numbers, total)

    @given(
        st.lists(st.integers(-20, 400), min_size=1, max_size=3).flatmap(
            lambda totals: st.tuples(
                st.just(totals),
                st.lists(
                    st.lists(
                        st.lists(st.integers(-40, 300), min_size=len(totals), max_size=len(totals)),
                        min_size=1,
                        max_size=4,
                    ),
                    max_size=3,
                ),
            )
        ),
        st.sampled_from(["1/100", "1/3", "1", "5"]),
    )
    def test_it_is_what_the_specification_makes(self, counts, epsilon):
        totals, tables = counts
        noise = laplace(len(tables), epsilon)
        made, arrays = realistic(np.array(totals), [np.array(table) for table in tables], noise)
        expected = reference.realistic(totals, tables, 1 + (len(tables) + 1) / Fraction(epsilon) / 2)
        assert (made, [array.tolist() for array in arrays]) == expected
        for array in arrays:
            assert array.sum(axis=0).tolist() == made
            assert min(array.ravel().tolist()) >= 1

    def test_class_totals_are_weighted_means(self):
        totals = class_totals(np.array([10, -50]), [np.array([[6, -1], [8, 0]])])
        assert totals == [(10 + Fraction(14, 2)) / Fraction(3, 2), 1]

    def test_sixteen_rows_are_made_of_one_unless_a_value_would_get_none(self):
        wide = Viewset([1000, 2], [[[1000, 2]] + [[0, 0]] * 200])
        noise = laplace(1, 100)
        made, _ = realistic(wide.class_counts, list(wide.counts.values()), noise)
        assert made[0] / made[1] == pytest.approx(1000 / 2, rel=1e-2)  # no class gains
        few = Viewset([1000, 900], [[[1000, 900], [0, 0]]])
        assert realistic(few.class_counts, list(few.counts.values()), noise)[0] == [16_000, 14_400]

    def test_the_spread_of_a_gaussian_is_its_sigma(self):
        noise = dp.counts(VIEWS, rho="3/32").noise
        assert (noise.sigma_squared, spread(noise)) == (16, 4 + Fraction(1, 2**32))


def test_each_noise_says_what_the_other_would_be():
    """Whoever has ten attributes and no delta learns what one would be worth."""
    laplace = Noise(mechanism="discrete laplace", epsilon=Fraction(1), sensitivity=21, n_attributes=20)
    assert laplace.text.endswith(
        "; Gaussian noise for the same epsilon, and a delta of 0.000001, has variance 431.106"
    )
    few = Noise(mechanism="discrete laplace", epsilon=Fraction(1), sensitivity=3, n_attributes=2)
    assert few.text.endswith("taken because it needs no delta, and below 10 attributes seldom varies more")
