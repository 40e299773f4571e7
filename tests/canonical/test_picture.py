"""The front as a picture: well-formed, every point in its place and shape, and told in words."""

import math
import re
from xml.etree import ElementTree

import pytest

from nbcfast.canonical import Limits
from nbcfast.canonical.advice import picture
from nbcfast.canonical.advice.picture import BREAKS, CHOSEN, KEEPS, FrontPoint, front_svg

SVG = "{http://www.w3.org/2000/svg}"
COARSE = FrontPoint(640, 6.66, 0, 19, 1.0, 1.0, 0, 0.85, 0.33, True)
SMALL = FrontPoint(60, 4.95, 0, 17, 1.0, 1.0, 0, 0.848, 0.34, True)
FINE = FrontPoint(10**9, 15.2, 203, 205, 0.25, 0.5, 9, 0.8195, math.inf, False)
POINTS = [SMALL, COARSE, FINE]


def drawn(*arguments):
    return ElementTree.fromstring(front_svg(*arguments))


def marks(root):
    """(what it is said to be, x, y, colour, shape, ringed) of each point."""
    found = []
    for group in root.findall(f"{SVG}g"):
        said = group.find(f"{SVG}title").text
        circles, lines = group.findall(f"{SVG}circle"), group.findall(f"{SVG}line")
        ringed = any(one.get("stroke") == CHOSEN for one in circles)
        discs = [one for one in circles if one.get("fill") != "none"]
        if discs:
            x, y = (float(discs[0].get(name)) for name in ("cx", "cy"))
            found.append((said, x, y, discs[0].get("fill"), "disc", ringed))
        else:
            x, y = ((float(lines[0].get(f"{axis}1")) + float(lines[0].get(f"{axis}2"))) / 2 for axis in "xy")
            found.append((said, x, y, lines[0].get("stroke"), "cross" if len(lines) == 2 else "?", ringed))
    return found


def test_points_have_a_place_a_colour_and_a_shape():
    found = {
        said.removeprefix("chosen: ").split(" kinds")[0]: rest
        for said, *rest in marks(drawn(POINTS, COARSE, Limits()))
    }
    assert set(found) == {"60", "640", "1,000,000,000"}
    assert found["60"][2:] == [KEEPS, "disc", False]
    assert found["640"][2:] == [KEEPS, "disc", True]
    assert found["1,000,000,000"][2:] == [BREAKS, "cross", False]
    assert (
        found["60"][0] < found["640"][0] < found["1,000,000,000"][0]
    )  # more bits stand further to the right
    assert found["640"][1] < found["60"][1] < found["1,000,000,000"][1]  # more accuracy stands higher
    for x, y, *_ in found.values():
        assert picture.LEFT <= x <= picture.WIDTH - picture.RIGHT
        assert picture.TOP <= y <= picture.HEIGHT - picture.BOTTOM


def test_places_are_those_of_the_numbers_on_the_axes():
    root = drawn(POINTS, None, Limits())
    numbers = {
        text.text: float(text.get("x"))
        for text in root.findall(f"{SVG}text")
        if text.get("text-anchor") == "middle"
    }
    zero, ten = numbers["0"], numbers["10"]
    places = {said.split(" kinds")[0]: x for said, x, *_ in marks(root)}
    assert places["640"] == pytest.approx(zero + (ten - zero) * 0.666, abs=0.1)
    heights = {
        text.text: float(text.get("y")) - 4 for text in root.findall(f"{SVG}text") if text.text.endswith(" %")
    }
    (low, at_low), (high, at_high) = sorted((float(words[:-2]), at) for words, at in heights.items())[
        :: len(heights) - 1
    ]
    y = {said.split(" kinds")[0]: y for said, _, y, *_ in marks(root)}["640"]
    assert y == pytest.approx(at_low + (85 - low) / (high - low) * (at_high - at_low), abs=0.1)


def test_the_limit_of_bits_is_a_line_where_there_is_one():
    def dashed(limits, points=POINTS):
        root = drawn(points, None, limits)
        lines = [line for line in root.iter(f"{SVG}line") if line.get("stroke-dasharray")]
        return lines, "".join(root.itertext())

    lines, words = dashed(Limits())
    assert len(lines) == 1
    assert lines[0].get("x1") == lines[0].get("x2")
    assert "limit: 8 bits" in words
    lines, words = dashed(Limits(max_bits=None))
    assert (lines, "limit: " in words) == ([], False)
    lines, words = dashed(Limits(max_bits=1000))
    assert lines == []
    assert "at most 1000 bits a weight" in words


def test_it_is_told_in_words():
    root = drawn(POINTS, COARSE, Limits(min_trace=0.5))
    assert root.get("role") == "img"
    title, told = (root.find(f"{SVG}{name}").text for name in ("title", "desc"))
    assert root.get("aria-label") == f"{title}. {told}"
    assert told == (
        "The share of people who are answered right, against the bits a weight that the answers give "
        "away, of 3 domains, of which 2 keep all limits (at most 8 bits a weight, at most 0 counts "
        "found, classes of at least 99 % hidden, presence of at least 50 % hidden, at most 0 values "
        "of one class). The chosen one: 640 kinds of people, 6.66 bits a weight, 85.00 % answered "
        "right, log-loss 0.3300, 0 of 19 counts found, classes of 100.00 % and presence of 100.00 % "
        "hidden, 0 values of one class; keeps all limits."
    )
    words = "".join(root.itertext())
    for axis in ("bits a weight that the answers give away", "people who are answered right"):
        assert axis in words
    none = Limits(max_bits=None, max_found=None, min_flip=None, max_one_class=None)
    assert "no limits" in "".join(drawn(POINTS, None, none).itertext())


def test_the_counts_found_are_beside_points_and_cover_nothing():
    points = [COARSE._replace(bits=5 + 0.01 * place, found=place) for place in range(100)]
    root = drawn(points, points[50], Limits())
    labels = [
        text for text in root.findall(f"{SVG}text") if text.get("font-size") == "11" and text.text.isdigit()
    ]
    assert "50" in {text.text for text in labels}  # the chosen one comes first
    assert len(labels) < 20
    places = [(float(text.get("x")), float(text.get("y"))) for text in labels]
    for one in places:
        assert all(
            one is other or abs(one[0] - other[0]) > 6 or abs(one[1] - other[1]) >= 12 for other in places
        )


def test_the_chosen_one_is_drawn_whether_it_is_among_the_points_or_not():
    assert len(marks(drawn([SMALL], COARSE, Limits()))) == 2
    assert len(marks(drawn([SMALL, COARSE], COARSE, Limits()))) == 2
    assert len(marks(drawn([], None, Limits()))) == 0
    assert len(marks(drawn([], COARSE, Limits()))) == 1
    assert len(marks(drawn([COARSE._replace(bits=0.0, accuracy=1.0)], None, Limits()))) == 1


def test_notebooks_draw_it():
    found = front_svg(POINTS, COARSE, Limits())
    assert found._repr_svg_() == found._repr_html_() == found
    assert type(found._repr_svg_()) is str


def test_what_is_written_is_escaped(monkeypatch):
    monkeypatch.setattr(picture, "TITLE", 'a <b> & "c"')
    found = front_svg(POINTS, COARSE, Limits())
    assert "<b>" not in found
    root = ElementTree.fromstring(found)
    assert root.find(f"{SVG}title").text == 'a <b> & "c"'
    assert root.get("aria-label").startswith('a <b> & "c". ')


def test_the_same_points_give_the_same_picture():
    assert front_svg(POINTS, COARSE, Limits()) == front_svg(list(POINTS), COARSE, Limits())
    assert not re.search(
        r"nan|inf[^e]", front_svg([SMALL, COARSE], COARSE, Limits()).lower().replace("information", "")
    )


@pytest.mark.parametrize("change", [{"bits": math.inf}, {"accuracy": math.nan}])
def test_points_without_a_place_are_refused(change):
    with pytest.raises(ValueError, match="points must have finite bits and accuracy"):
        front_svg([COARSE._replace(**change)], None, Limits())


def test_shares_of_two_decimals_do_not_cover_the_words_beside_them():
    """At 12 pixels a digit is about 7.6 wide, and the words that are turned reach to 21."""
    near = [COARSE._replace(accuracy=accuracy) for accuracy in (0.8472, 0.85)]
    ends = [
        (float(text.get("x")), text.text)
        for text in drawn(near, near[1], Limits()).iter(f"{SVG}text")
        if re.fullmatch(r"[0-9.]+ %", text.text or "")
    ]
    assert "84.75 %" in [words for _, words in ends]
    assert all(end - 7.2 * len(words) > 21 for end, words in ends)
