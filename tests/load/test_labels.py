import pytest

from unhorse.errors import UsageError
from unhorse.load.labels import DatasetLabel, label_index, match_labels

STARS = ["1 star", "2 stars", "3 stars", "4 stars", "5 stars"]
GENERIC = ["LABEL_0", "LABEL_1"]


@pytest.mark.parametrize(
    ("value", "labels", "expected"),
    [
        # names come first, as written before ignoring case
        ("sports", ["world", "Sports"], 1),
        ("  SPORTS\n", ["world", "Sports"], 1),
        ("a", ["A", "a"], 1),
        ("B", ["b", "b "], None),
        ("label_1", GENERIC, 1),
        ("LABEL_1", ["LABEL_1", "LABEL_0"], 0),
        (True, ["true", "false"], 0),
        # numeric names and star ratings win over indices, and exclude them
        (1, ["1", "2"], 0),
        ("0", ["1", "0"], 1),
        (0, ["1", "2"], None),
        ("2.0", ["1", "2"], 1),
        (1, STARS, 0),
        ("5", STARS, 4),
        (0, STARS, None),
        ("2 star", STARS, 1),
        ("3_stars", STARS, 2),
        ("3 stars", ["1", "2", "3"], 2),
        ("3 stars", ["bad", "good"], None),
        # plain indices
        (0, ["world", "sports"], 0),
        ("1", ["world", "sports"], 1),
        (" 1.0 ", ["world", "sports"], 1),
        (1.0, ["world", "sports"], 1),
        (True, ["world", "sports"], 1),
        (2, ["world", "sports"], None),
        (-1, ["world", "sports"], None),
        (0.5, ["world", "sports"], None),
        (float("nan"), ["world", "sports"], None),
        (float("inf"), ["world", "sports"], None),
        ("9" * 100, ["world", "sports"], None),
        # the generic form is an index
        ("LABEL_1", ["world", "sports"], 1),
        ("label_2", ["world", "sports"], None),
        # meanings
        ("pos", ["NEGATIVE", "POSITIVE"], 1),
        ("Negative", ["pos", "neg"], 1),
        ("neu", ["negative", "Neutral", "positive"], 1),
        ("pos", ["pos.", "positive", "POSITIVE"], None),
        (1, ["NEGATIVE", "POSITIVE"], 1),
        (1, ["POSITIVE", "NEGATIVE"], None),
        ("0", ["pos", "neg"], None),
        ("positive", ["0", "1"], 1),
        ("negative", ["1", "0"], 1),
        ("pos", GENERIC, 1),
        ("positive", ["LABEL_0", "LABEL_1", "LABEL_2"], None),
        ("positive", ["1", "2"], None),
        ("positive", ["ham", "spam"], None),
        # values of no use
        (None, GENERIC, None),
        ([1], GENERIC, None),
        ("", GENERIC, None),
        ("joy", ["anger", "fear"], None),
    ],
)
def test_label_index(value, labels, expected):
    assert label_index(value, labels) == expected


@pytest.mark.parametrize(
    ("label", "labels", "expected"),
    [
        (DatasetLabel(0, "negative"), ["positive", "negative", "neutral"], 1),
        (DatasetLabel(1, "Sports"), GENERIC, 1),
        (DatasetLabel(0, "1"), GENERIC, 0),
        (DatasetLabel(2, "Business"), GENERIC, None),
        (DatasetLabel(1, "2 star"), STARS, 1),
        (DatasetLabel(1, "yes"), ["spam", "ham"], None),
    ],
)
def test_declared_names_beat_indices_unless_the_model_has_no_names(label, labels, expected):
    assert label_index(label, labels) == expected


def test_a_dataset_label_reads_as_its_name():
    assert f"{DatasetLabel(1, 'pos')!r} {DatasetLabel(1, 'pos')}" == "'pos' 'pos'"


@pytest.mark.parametrize(
    ("subject", "reference", "expected"),
    [
        (["neg", "pos"], ["NEG", "POS"], (0, 1)),
        (["neg", "pos"], ["Positive ", "negative"], (1, 0)),
        (["a", "b"], ["c", "b", "a"], (2, 1)),
        (GENERIC, ["LABEL_1", "LABEL_0"], (0, 1)),
        (GENERIC, ["LABEL_0", "LABEL_1", "LABEL_2"], (0, 1)),
        (["0", "1"], ["1", "0"], (1, 0)),
        (["1 star", "2 star"], STARS, (0, 1)),
    ],
)
def test_match_labels(subject, reference, expected):
    assert match_labels(subject, reference) == expected


@pytest.mark.parametrize(
    ("subject", "reference"),
    [
        (["neg", "pos"], GENERIC),
        (GENERIC, ["neg", "pos"]),
        (["0", "1"], GENERIC),
        (["LABEL_0", "LABEL_1", "LABEL_2"], GENERIC),
        (["a", "b"], ["a", "c"]),
        (["pos", "positive"], ["positive", "negative"]),
    ],
)
def test_labels_that_cannot_be_matched(subject, reference):
    with pytest.raises(UsageError) as caught:
        match_labels(subject, reference)
    message = str(caught.value)
    assert message.endswith(".") and message.count(". ") == 0
    assert repr(subject[-1]) in message and repr(reference[-1]) in message


def test_long_label_lists_are_shortened_and_escaped():
    subject = [f"topic {i}" for i in range(150)]
    with pytest.raises(UsageError) as caught:
        match_labels(subject, ["\x1b[31m", "x" * 5000])
    message = str(caught.value)
    assert "'topic 5' and 144 more" in message
    assert "\x1b" not in message and len(message) < 400
