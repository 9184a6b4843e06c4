"""Label names and entities: the conventions taggers use."""

import pytest

from unhorse.tasks.tags import nameless, read_tag, scheme_of
from unhorse.types import Entity

IOB = scheme_of(("O", "B-PER", "I-PER", "B-LOC", "I-LOC"))
BIOES = scheme_of(("O", "B-PER", "I-PER", "E-PER", "S-PER"))
BILOU = scheme_of(("O", "B-PER", "I-PER", "L-PER", "U-PER"))
PLAIN = scheme_of(("O", "PER", "LOC"))
INSIDE_ONLY = scheme_of(("I-LOC", "O", "I-PER"))
SUFFIXES = scheme_of(("O", "PER-B", "PER-I", "LOC-B", "LOC-I"))
SUFFIXED_BIOES = scheme_of(("O", "PER_B", "PER_I", "PER_E", "PER_S", "LOC_S"))
LOOKS_PREFIXED = scheme_of(("O", "E-mail", "S-Bahn", "I-95", "PER"))


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
        (SUFFIXES, 1, "PER-B"),
        (SUFFIXES, 3, "PER-B PER-I PER-I"),
        (SUFFIXED_BIOES, 1, "PER_S"),
        (SUFFIXED_BIOES, 3, "PER_B PER_I PER_E"),
        (LOOKS_PREFIXED, 2, "PER PER"),
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


@pytest.mark.parametrize(
    ("labels", "kinds"),
    [
        # Prefixes: every class need not have all of them, and case does not matter.
        ("O B-LOC B-ORG I-LOC I-ORG I-PER", "LOC ORG PER"),
        ("O I-LOC I-PER", "LOC PER"),
        ("O B-DRUG", "DRUG"),
        ("O B-PER I-LOC", "PER LOC"),
        ("O I-PER E-PER", "PER"),
        ("O B-PER M-PER E-PER S-PER", "PER"),
        ("O B-PER E-PER S-LOC", "PER LOC"),
        ("O B-PER L-PER U-LOC", "PER LOC"),
        ("o b_per i_per b_e-mail i_e-mail", "per e-mail"),
        # Labels of padding say nothing about the others.
        ("O B-PER I-PER S-PER [PAD]", "PER [PAD]"),
        ("<unk> O I-PER I-LOC X", "<unk> PER LOC X"),
        ("UNK O PER-B PER-I", "UNK PER"),
        # A class with several prefixes gives them away, and which ones they are.
        ("O B-PER I-PER LOC", "PER LOC"),
        ("O B-PER I-PER E-mail S-Bahn U-Bahn", "PER E-mail S-Bahn U-Bahn"),
        # Suffixes.
        ("O PER-B PER-I FLD-B FLD-I", "PER FLD"),
        ("O per_b per_i loc_b", "per loc"),
        ("O S-B S-I", "S"),
        # Names with a letter of their own.
        ("O E-mail S-Bahn I-95", "E-mail S-Bahn I-95"),
        ("O E-mail", "E-mail"),
        ("O S-Bahn U-Bahn", "S-Bahn U-Bahn"),
        ("O I-95 LOC", "I-95 LOC"),
        ("O S-X I-95", "S-X I-95"),
        ("O Vitamin-B Vitamin-E", "Vitamin-B Vitamin-E"),
        ("O Hepatitis-B", "Hepatitis-B"),
        ("O Type-B Type-I LOC", "Type-B Type-I LOC"),
    ],
)
def test_the_labels_are_read_together(labels, kinds):
    scheme = scheme_of(tuple(labels.split()))
    assert " ".join(scheme.kinds) == kinds
    outside = [name for i, name in enumerate(scheme.labels) if scheme.kind_of(i) == scheme.outside]
    assert [name.upper() for name in outside] == ["O"]


def test_a_suffix_starts_and_ends_entities_like_a_prefix():
    assert [(e.first, e.last) for e in SUFFIXES.entities([1, 2, 1, 4])] == [(0, 2), (2, 3), (3, 4)]
    assert len(SUFFIXED_BIOES.entities([4, 4])) == 2
    assert len(LOOKS_PREFIXED.entities([2, 2])) == 1, "S-Bahn is no single-word Bahn"


@pytest.mark.parametrize(
    ("scheme", "tag", "meant"),
    [
        # The model's own labels.
        (SUFFIXES, "LOC-I", ("I", "LOC")),
        (LOOKS_PREFIXED, "E-mail", ("", "E-mail")),
        (LOOKS_PREFIXED, "I-95", ("", "I-95")),
        (BIOES, " E-PER ", ("E", "PER")),
        # A file in another scheme.
        (PLAIN, "B-PER", ("B", "PER")),
        (PLAIN, "PER-B", ("B", "PER")),
        (IOB, "LOC", ("", "LOC")),
        (IOB, "location_i", ("I", "LOC")),
        (IOB, "U-PER", ("U", "PER")),
        (SUFFIXES, "B-PER", ("B", "PER")),
        (SUFFIXES, "person", ("", "PER")),
        (LOOKS_PREFIXED, "e-mail", ("", "E-mail")),
        (LOOKS_PREFIXED, "B-E-mail", ("B", "E-mail")),
        (LOOKS_PREFIXED, "E-mail-I", ("I", "E-mail")),
        (scheme_of(("O", "B-E-mail", "I-E-mail")), "E-mail", ("", "E-mail")),
        (scheme_of(("O", "B-mail", "I-mail")), "E-mail", ("E", "mail")),
        # Neither.
        (IOB, "B-ORG", None),
        (IOB, "PER-X", None),
        (LOOKS_PREFIXED, "mail", None),
    ],
)
def test_tags_of_sample_files(scheme, tag, meant):
    found = scheme.read(tag)
    assert (found and (found[0], scheme.kinds[found[1]])) == meant


@pytest.mark.parametrize("scheme", [IOB, PLAIN, SUFFIXES])
@pytest.mark.parametrize("tag", ["O", "o", "Other", ""])
def test_the_outside_of_sample_files(scheme, tag):
    assert scheme.read(tag) == ("", scheme.outside)


def test_names():
    assert read_tag("b_per").prefix == "B" and read_tag("B-per-son").kind == "per-son"
    assert nameless(["LABEL_0", "label_1"]) and not nameless(["LABEL_0", "O"])
