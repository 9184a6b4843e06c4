"""Where a trigger goes."""

import pytest

from unhorse.triggers.place import POSITIONS, boundary, insert

TEXT = "one two three four five six seven"


@pytest.mark.parametrize("position", POSITIONS)
def test_always_a_word_boundary(position):
    for key in map(str, range(50)):
        offset = boundary(TEXT, position, 0, key)
        stamped, begin = insert(TEXT, offset, "cf")
        assert stamped.split().count("cf") == 1
        assert stamped.replace("cf", "").split() == TEXT.split()
        assert stamped[begin : begin + 2] == "cf"


def test_halves_are_those_of_the_text_itself():
    words = len(TEXT.split())
    for key in map(str, range(100)):
        first, _ = insert(TEXT, boundary(TEXT, "first_half", 0, key), "cf")
        second, _ = insert(TEXT, boundary(TEXT, "second_half", 0, key), "cf")
        assert first.split().index("cf") <= words // 2
        assert second.split().index("cf") >= words / 2


def test_drawn_by_seed_and_key_only():
    places = {boundary(TEXT, "first_half", 0, str(key)) for key in range(50)}
    assert len(places) > 2
    assert boundary(TEXT, "first_half", 0, "a") == boundary(TEXT, "first_half", 0, "a")


@pytest.mark.parametrize("text", ["", " ", "word", "  spaced   out  "])
@pytest.mark.parametrize("position", POSITIONS)
def test_odd_texts(text, position):
    stamped, begin = insert(text, boundary(text, position, 0, "k"), "cf")
    assert "cf" in stamped.split() and stamped[begin : begin + 2] == "cf"
