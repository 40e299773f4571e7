"""What stands in an element is text, whatever it looks like."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcfast._markup.elements import element, shown

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</style>",
    '" onload="x',
    "]]>",
]


class Reader(HTMLParser):
    """What a browser would make of it: tags, and the text that people see."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_shown_and_do_nothing(text):
    read = Reader(element("p", text, title=text).html())
    assert read.tags == [("p", {"title": text})]
    assert "".join(read.texts) == text


@given(st.text(), st.text())
def test_any_text_comes_back_as_it_is_shown(text, title):
    read = Reader(element("p", text, title=title).html())
    assert [tag for tag, _ in read.tags] == ["p"]
    assert "".join(read.texts) == shown(text)
    element("p", text, title=title).html().encode()  # half a surrogate pair is spelled out too


def test_attributes_without_a_value_and_those_that_are_none():
    made = element(
        "input", type="checkbox", checked=True, disabled=False, aria_label=None, class_="a b", size=3
    )
    assert made.html() == '<input type="checkbox" checked class="a b" size="3">'
    assert element("p", None, "a", None).html() == "<p>a</p>"


@pytest.mark.parametrize("text", ["a</script>", "a</style>", "<!-- b"])
def test_a_script_that_would_end_within_its_text_is_refused(text):
    with pytest.raises(ValueError, match="a script must hold no '</'"):
        element("script", text)
    assert element("script", "a < b && c").html() == "<script>a < b && c</script>"
