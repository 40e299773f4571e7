"""The kernel's coins: their streams, their exact chances, and what they refuse."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from nbcfast import _coins, _response


def words(text):
    return np.frombuffer(bytes.fromhex(text.replace(":", "").replace(" ", "")), "<u4").astype(np.uint32)


def block(key, counter, nonce):
    out = np.empty(16, np.uint32)
    _coins.chacha_block(key, counter, nonce, out)
    return out.astype("<u4").tobytes().hex()


def test_chacha_vectors_of_rfc_8439():
    key = np.frombuffer(bytes(range(32)), "<u4").astype(np.uint32)
    # 2.3.2
    assert block(key, 1, words("000000090000004a00000000")) == (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )
    zero = np.zeros(8, np.uint32)
    # A.1, 1 and 2
    assert block(zero, 0, zero[:3]) == (
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
    )
    assert block(zero, 1, zero[:3]) == (
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"
    )
    # A.1, 3: a key that ends with 1
    one = words("00" * 31 + "01")
    assert block(one, 1, zero[:3]) == (
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
        "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0"
    )
    with pytest.raises(ValueError, match="expected 8, 3 and 16 words, got 7, 3 and 16"):
        _coins.chacha_block(zero[:7], 0, zero[:3], np.empty(16, np.uint32))


def test_the_stream_is_that_of_the_blocks():
    key = bytes(range(32))
    stream = np.empty(8 * 1030, np.uint64)
    _coins.Coins(key).words(stream)
    own = np.frombuffer(key, "<u4").astype(np.uint32)
    for number in (0, 1, 15, 16, 511, 512, 1029):
        out = np.empty(16, np.uint32)
        _coins.chacha_block(own, number, np.zeros(3, np.uint32), out)
        assert out.view(np.uint64).tolist() == stream[8 * number : 8 * number + 8].tolist()


def xoshiro(seed, n):
    """xoshiro256++ in eight lanes as the kernel seeds it, in plain Python."""
    full = 2**64 - 1
    key = [int.from_bytes(seed[8 * i : 8 * i + 8], "little") for i in range(4)]

    def splitmix(z):
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & full
        z = (z ^ z >> 27) * 0x94D049BB133111EB & full
        return z ^ z >> 31

    lanes = [
        [splitmix((key[word] + 0x9E3779B97F4A7C15 * (4 * lane + word + 1)) & full) for word in range(4)]
        for lane in range(8)
    ]

    def turned(x, k):
        return (x << k | x >> 64 - k) & full

    found = []
    while len(found) < n:
        for s in lanes:
            found.append((turned((s[0] + s[3]) & full, 23) + s[0]) & full)
            t = s[1] << 17 & full
            s[2] ^= s[0]
            s[3] ^= s[1]
            s[1] ^= s[2]
            s[0] ^= s[3]
            s[2] ^= t
            s[3] = turned(s[3], 45)
    return found[:n]


def test_the_stream_of_simulations():
    seed, stream = bytes(range(32)), np.empty(100, np.uint64)
    _coins.Coins(seed, seeded=True).words(stream)
    assert stream.tolist() == xoshiro(seed, 100)


@pytest.mark.parametrize("seeded", [False, True])
@pytest.mark.parametrize(
    ("num", "den"), [(1, 5), (1, 3), (1, 2), (3, 8), (2**62 - 1, 2**62), (1, 2**62), (7, 10**15 + 37)]
)
def test_bits_are_those_of_the_comparison(num, den, seeded):
    """Each bit is [U < num / den] for the number U whose digits are drawn for its lane.

    The first eight come side by side, those of eight words together; then, of 128 words, 64 at a time for
    each lane that is still undecided.
    """
    n_words, side = 300, 128
    key = b"0123456789abcdef" * 2
    raw = np.empty(20_000, np.uint64)
    _coins.Coins(key, seeded=seeded).words(raw)
    drawn = raw.tolist()
    out = np.empty(n_words, np.uint64)
    _coins.Coins(key, seeded=seeded).bits(num, den, out)

    scaled, digits = Fraction(num, den), []
    while scaled and len(digits) < 8:
        scaled *= 2
        digits.append(int(scaled >= 1))
        scaled -= digits[-1]
    at, looked_at = 0, 0
    for start in range(0, n_words, side):
        at = -(-at // 8) * 8
        length = min(side, n_words - start)
        ones, open_ = [0] * length, [2**64 - 1] * length
        for lane in range(0, length, 8):
            for digit in digits:
                for i in range(lane, min(lane + 8, length)):
                    word = drawn[at + i - lane]
                    ones[i] |= open_[i] & ~word if digit else 0
                    open_[i] &= word if digit else ~word
                at += 8
        for i in range(length):
            for bit in range(64) if scaled else ():
                if open_[i] >> bit & 1:
                    # U < p, as a comparison of all digits: the next 64 suffice unless they are those of p.
                    assert drawn[at] != math.floor(scaled * 2**64)
                    ones[i] |= int(Fraction(drawn[at], 2**64) < scaled) << bit
                    at, looked_at = at + 1, looked_at + 1
        assert out[start : start + length].tolist() == ones
    assert (looked_at > 0) is (den not in (2, 8))


@pytest.mark.parametrize("seeded", [False, True])
def test_how_often_bits_are_set(seeded):
    """Fixed keys; each of 8 counts is off by 5 standard deviations once in 1.7 million keys."""
    coins = _coins.Coins(b"\x07" * 32, seeded=seeded)
    out = np.empty(50_000, np.uint64)
    for num, den in ((1, 5), (1, 2), (1, 3), (999, 1000)):
        coins.bits(num, den, out)
        n, p = 64 * len(out), num / den
        assert abs(_response.ones(out) - n * p) < 5 * math.sqrt(n * p * (1 - p))
    coins.bits(0, 7, out)
    assert _response.ones(out) == 0
    coins.bits(7, 7, out)
    assert _response.ones(out) == 64 * len(out)


@pytest.mark.parametrize(("dtype", "k"), [(np.uint8, 3), (np.uint8, 256), (np.uint16, 300), (np.uint32, 5)])
def test_lies_are_other_values_and_uniform(dtype, k):
    """Chi squared with k - 2 degrees of freedom, fixed key, below its mean plus 6 standard deviations."""
    n = 200_003
    codes = (np.arange(n) % k).astype(dtype)
    told, mask = np.empty_like(codes), np.empty(-(-n // 64), np.uint64)
    coins = _coins.Coins(b"\x01" * 32, seeded=True)
    coins.bits(1, 2, mask)
    _response.lies(coins, mask, codes, k, told)
    lying = np.unpackbits(mask.view(np.uint8), count=n, bitorder="little").astype(bool)
    assert ((told != codes) == lying).all()
    assert told.max() < k
    distance = (told[lying].astype(int) - codes[lying].astype(int)) % k
    counts = np.bincount(distance, minlength=k)[1:]
    expected = lying.sum() / (k - 1)
    chi = ((counts - expected) ** 2 / expected).sum()
    assert chi < (k - 2) + 6 * math.sqrt(2 * (k - 2))


def test_numbers_below_a_bound():
    coins = _coins.Coins(bytes(32))
    for bound in (1, 2, 3, 1000, 2**32, 2**32 + 1, 2**63):
        out = np.empty(2000, np.uint64)
        coins.below(bound, out)
        assert int(out.max()) < bound
        # The mean of 2000 is within 6 standard deviations of the middle.
        assert abs(float(out.astype(float).mean()) / bound - (bound - 1) / bound / 2) < 6 / math.sqrt(24000)


def test_the_kernel_refuses_what_it_cannot_take():
    coins, out = _coins.Coins(bytes(32)), np.empty(2, np.uint64)
    codes = np.array([0, 1, 2], np.uint8)
    with pytest.raises(ValueError, match="key must be 32 bytes, got 31"):
        _coins.Coins(bytes(31))
    for num, den in ((1, 0), (3, 2), (1, 2**63)):
        with pytest.raises(ValueError, match=r"expected 0 <= num <= den with den in 1..2\^63-1"):
            coins.bits(num, den, out)
    with pytest.raises(ValueError, match="expected codes below 2"):
        _response.lies(coins, out, codes, 2, np.empty_like(codes))
    with pytest.raises(ValueError, match="size must be at least 2 and fit the type of the codes, got 257"):
        _response.lies(coins, out, codes, 257, np.empty_like(codes))
    with pytest.raises(ValueError, match="3 codes but 3 places and 0 words of mask"):
        _response.lies(coins, out[:0], codes, 3, np.empty_like(codes))
    with pytest.raises(ValueError, match="3 codes but 2 places"):
        _response.flip(out, codes, np.empty(2, np.uint8))
    with pytest.raises(ValueError, match=r"bound must be 1..2\^63, got 0"):
        coins.below(0, out)
    with pytest.raises(ValueError, match="2 and 1 words"):
        _response.common(out, out[:1])
    with pytest.raises(TypeError, match="coins are not copied"):
        pickle.dumps(coins)
    assert _response.ones(out[:0]) == 0
    assert not coins.seeded


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_flips_and_counts_of_any_length(n):
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 2, n, np.uint8)
    mask = rng.integers(0, 2**64, -(-n // 64) or 1, np.uint64)
    bits = np.unpackbits(mask.view(np.uint8), count=n, bitorder="little")
    out = np.empty_like(codes)
    _response.flip(mask, codes, out)
    assert out.tolist() == (codes ^ bits).tolist()
    a = b = mask
    assert _response.ones(a) == _response.common(a, b) == sum(int(word).bit_count() for word in mask.tolist())
