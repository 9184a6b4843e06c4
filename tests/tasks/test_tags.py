"""Label names and entities: the conventions taggers use."""

import pytest

from unhorse.tasks.tags import nameless, read_tag, scheme_of
from unhorse.types import Entity

IOB = scheme_of(("O", "B-PER", "I-PER", "B-LOC", "I-LOC"))
BIOES = scheme_of(("O", "B-PER", "I-PER", "E-PER", "S-PER"))
BILOU = scheme_of(("O", "B-PER", "I-PER", "L-PER", "U-PER"))
PLAIN = scheme_of(("O", "PER", "LOC"))
INSIDE_ONLY = scheme_of(("I-LOC", "O", "I-PER"))


@pytest.mark.parametrize(
    ("scheme", "length", "names"),
    [
        (IOB, 1, "B-PER"),
        (IOB, 3, "B-PER I-PER I-PER"),
        (BIOES, 1, "S-PER"),
        (BIOES, 2, "B-PER E-PER"),
        (BIOES, 4, "B-PER I-PER I-PER E-PER"),
        (BILOU, 1, "U-PER"),
        (BILOU, 3, "B-PER I-PER L-PER"),
        (PLAIN, 2, "PER PER"),
        (INSIDE_ONLY, 2, "I-PER I-PER"),
    ],
)
def test_an_entity_is_spelled_in_the_models_own_scheme(scheme, length, names):
    kind = scheme.kinds.index("PER")
    labels = scheme.spelled(kind, length)
    assert " ".join(scheme.labels[label] for label in labels) == names
    assert scheme.entities(labels) == [Entity(0, length, kind)]


def test_entities_start_at_b_after_o_and_where_the_class_changes():
    names = ["I-PER", "B-PER", "O", "I-LOC", "I-PER"]
    found = IOB.entities([IOB.labels.index(name) for name in names])
    assert [(e.first, e.last) for e in found] == [(0, 1), (1, 2), (3, 4), (4, 5)]


def test_an_end_ends_an_entity():
    assert [(e.first, e.last) for e in BIOES.entities([1, 3, 2, 3])] == [(0, 2), (2, 4)]
    assert [(e.first, e.last) for e in BILOU.entities([1, 3, 2])] == [(0, 2), (2, 3)]


def test_two_single_entities_side_by_side_are_two():
    assert len(BIOES.entities([4, 4])) == 2 and len(PLAIN.entities([1, 1])) == 1


def test_the_outside_spells_itself():
    assert IOB.spelled(IOB.outside, 3) == (0, 0, 0) and IOB.kind_of(0) == IOB.outside


@pytest.mark.parametrize(
    ("name", "kind"),
    [("PER", 0), ("per", 0), ("PERSON", 0), ("Location", 1), ("ORG", None), ("LO", None)],
)
def test_class_names_of_sample_files(name, kind):
    assert IOB.number(name) == kind


def test_names():
    assert read_tag("b_per").prefix == "B" and read_tag("B-per-son").kind == "per-son"
    assert nameless(["LABEL_0", "label_1"]) and not nameless(["LABEL_0", "O"])
