"""`disguise`: the law of the answers, of tables and of bits."""

import math
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest
from response_cases import table_of

import nbcfast
from nbcfast import Table, response
from nbcfast.reference import response as reference
from nbcfast.response import KaryScheme, Scheme


def test_each_group_has_one_coin_a_record():
    n = 20_000
    table = table_of([(0, 1, 0, 1)] * n, ("a", "b", "d", "c"))
    scheme = Scheme(["4/5", "3/10"], [["a", "b"], ["d"]])
    told = response.disguise(table, scheme, np.random.default_rng(3))
    lies = told.codes("a") != 0
    assert (lies == (told.codes("b") != 1)).all()
    assert told.codes("c").tolist() == [1] * n
    others = told.codes("d") != 0
    # Five standard deviations, fixed seed.
    for hits, p in ((lies, 0.2), (others, 0.7), (lies & others, 0.14)):
        assert abs(hits.sum() - n * p) < 5 * math.sqrt(n * p * (1 - p))
    assert (told.seeded, told.untouched, told.scheme.domains["a"].values) == (True, ("c",), (0, 1))
    assert response.disguise(table, scheme).seeded is False
    again = response.disguise(table, scheme, np.random.default_rng(3))
    assert again == told
    assert response.disguise(table, scheme) != told
    copy = pickle.loads(pickle.dumps(told))
    assert (copy == told, copy.scheme == told.scheme, copy.seeded) == (True, True, True)


def test_bits_are_disguised_as_tables_are():
    rng = np.random.default_rng(4)
    table = table_of(rng.integers(0, 2, (1 << 17, 3)).tolist(), ("a", "b", "c"))
    scheme = Scheme(["4/5", "2/3"], [["a", "c"], ["b"]])
    told = response.disguise(table, scheme, np.random.default_rng(9))
    bits = response.disguise(response.pack(table), scheme, np.random.default_rng(9))
    assert bits.to_table() == Table(
        {name: told.codes(name) for name in told.names}, {n: [0, 1] for n in "abc"}
    )
    assert (bits.seeded, bits.scheme) == (True, scheme)
    odd = response.pack(table.take(slice(0, 1001)))
    some = response.disguise(odd, scheme)
    for words_of in some.words.values():
        assert int(words_of[-1]) >> (1001 % 64) == 0
    assert "Bits(1001 rows of a, b, c)" in repr(some)
    assert some.to_dict()["seeded"] is False


@pytest.mark.parametrize("lie", ["each", "tuple"])
def test_kary_answers_have_their_law(lie):
    """Chi squared over all answers to one record, fixed seed, below its mean plus 6 standard deviations."""
    n, sizes = 60_000, [3, 4, 2]
    domains = {name: list(range(size)) for name, size in zip("abc", sizes, strict=True)}
    scheme = KaryScheme(["1/2", "3/4"], domains, groups=[["a", "b"], ["c"]], lie=lie)
    table = table_of([(1, 3, 0)] * n, ("a", "b", "c"), sizes)
    told = response.disguise(table, scheme, np.random.default_rng(12))
    plain = [(Fraction(1, 2), (0, 1)), (Fraction(3, 4), (2,))]
    expected = {answer: n * float(w) for w, answer in reference.kary_answers((1, 3, 0), plain, sizes, lie)}
    seen = {}
    for answer in zip(*(told.codes(name).tolist() for name in "abc"), strict=True):
        seen[answer] = seen.get(answer, 0) + 1
    assert set(seen) <= set(expected)
    chi = sum((seen.get(answer, 0) - e) ** 2 / e for answer, e in expected.items())
    freedom = len(expected) - 1
    assert chi < freedom + 6 * math.sqrt(2 * freedom)


def test_disguised_estimates_are_near_the_truth():
    """Fixed seed; each of 16 estimates within 5 standard errors."""
    rng = np.random.default_rng(21)
    of_class = rng.random(50_000) < 0.3
    columns = {f"a{i}": (rng.random(50_000) < 0.2 + 0.15 * i * of_class).astype(int) for i in range(4)}
    table = Table({**columns, "c": of_class.astype(int)})
    scheme = Scheme(["0.8", "0.7"], [["a0", "a1", "c"], ["a2", "a3"]])
    found = response.estimate(response.disguise(table, scheme, rng), scheme, "c")
    true = nbcfast.count(table, "c")
    for name, shares in found.raw.joint.items():
        errors = np.sqrt(found.variance.joint[name].astype(float))
        assert (abs(shares.astype(float) - true.counts[name] / 50_000) < 5 * errors).all()


def test_coins_come_from_the_operating_system(monkeypatch):
    """One key of 32 bytes a call, which nobody keeps."""
    table = table_of([(0, 1)] * 4096, ("a", "b"))
    scheme, keys, ask = Scheme.per_attribute("0.8", ["a", "b"]), [], os.urandom

    def urandom(n):
        keys.append(ask(n))
        return keys[-1]

    for what in (table, response.pack(table)):
        del keys[:]
        monkeypatch.setattr(os, "urandom", urandom)
        one, other = (response.disguise(what, scheme) for _ in range(2))
        monkeypatch.undo()
        assert [len(key) for key in keys] == [32, 32]
        assert keys[0] != keys[1]
        one, other = (
            {name: told.counts("b") for name in "b"} if what is not table else told for told in (one, other)
        )
        assert one != other
        if what is table:
            kept = pickle.dumps(one)
            assert not any(key in kept for key in keys)
            # The same key gives the same answers: they depend on nothing else.
            monkeypatch.setattr(os, "urandom", lambda n: keys[0])
            assert response.disguise(table, scheme) == one
            monkeypatch.undo()


def test_blocks_of_rows_are_one_stream(monkeypatch):
    rng = np.random.default_rng(4)
    table = table_of(rng.integers(0, 2, (100_000, 3)).tolist(), ("a", "b", "c"))
    scheme = Scheme(["4/5"], [["a", "c"]])
    kary = KaryScheme("2/5", {"b": [0, 1]})
    bits = response.pack(table)
    whole = [
        response.disguise(table, scheme, np.random.default_rng(1)),
        response.disguise(table, kary, np.random.default_rng(1)),
        response.disguise(bits, scheme, np.random.default_rng(1)).to_table(),
    ]
    monkeypatch.setattr("nbcfast.response.disguising.BLOCK_ROWS", 64 * 512)
    seen = []
    parts = [
        response.disguise(table, scheme, np.random.default_rng(1), progress=lambda *done: seen.append(done)),
        response.disguise(table, kary, np.random.default_rng(1)),
        response.disguise(bits, scheme, np.random.default_rng(1)).to_table(),
    ]
    assert parts[0] == whole[0]
    assert parts[2] == whole[2]
    assert seen == [(32768, 100_000), (65536, 100_000), (98304, 100_000), (100_000, 100_000)]
    # Lies take as many words as they need, so blocks of them are others; six standard deviations each.
    lies = parts[1].codes("b") != table.codes("b")
    for start in range(0, 100_000, 32768):
        some = lies[start : start + 32768]
        assert abs(some.sum() - 0.6 * len(some)) < 3 * math.sqrt(len(some))


def test_a_bit_does_not_tell_three_values():
    table = Table({"a": [0, 1] * 50}, domains={"a": [0, 1]})
    with pytest.raises(
        ValueError, match="column 'a': a bit tells two values, and the scheme has 3: disguise a"
    ):
        response.disguise(response.pack(table), KaryScheme("0.6", {"a": [0, 1, 2]}))
