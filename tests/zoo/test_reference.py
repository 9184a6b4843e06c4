"""References must be strangers."""

import pytest
from tests.attack.test_gates import record

from unhorse.attack.recipe import make_recipe
from unhorse.errors import UsageError
from unhorse.types import FileDigest
from unhorse.zoo.reference import check_reference


def made(name, family, part=(0.0, 0.5), head_only=False, train="a.tsv", **more):
    recipe = make_recipe(
        {
            "name": name,
            "task": "sequence-classification",
            "data": {"train": train, "heldout": "b.tsv", "part": part},
            "training": {"head_only": head_only},
        }
    )
    return record(poisoned=False, name=name, family=family, recipe=recipe, **more)


SUBJECT = made("model", "f", ancestors=("one",), twin_of=None)
OTHER = (0.5, 1.0)


def test_a_stranger_with_other_rows_is_taken():
    check_reference(SUBJECT, made("other", "g", OTHER))
    check_reference(SUBJECT, made("other", "g", train="c.tsv"))


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (made("other", "f", OTHER), "of the same family as model"),
        (made("one", "g", OTHER), "descend from each other"),
        (made("other", "g", OTHER, ancestors=("model",)), "descend from each other"),
        (made("other", "g", OTHER, twin_of="model"), "are twins"),
        (made("other", "g", OTHER, ancestors=("one",)), "are both derived from one"),
        (made("other", "g", OTHER, ancestors=("one",), head_only=True), "both derived from one"),
        (made("other", "g", (0.4, 0.6)), "the same rows of a.tsv"),
        (made("other", "g", OTHER).model_copy(update={"poisoned": True}), "is trojaned"),
    ],
)
def test_anyone_else_is_refused_in_a_sentence(reference, said):
    with pytest.raises(UsageError, match=said):
        check_reference(SUBJECT, reference)


def test_a_twin_is_refused_either_way():
    with pytest.raises(UsageError, match="are twins"):
        check_reference(made("twin", "h", twin_of="model"), made("model", "g", OTHER))


def test_heads_may_share_a_frozen_body_but_no_rows():
    head = made("head", "f", head_only=True, ancestors=("body",))
    check_reference(head, made("other", "g", OTHER, head_only=True, ancestors=("body",)))
    with pytest.raises(UsageError, match="the same rows"):
        check_reference(head, made("other", "g", head_only=True, ancestors=("body",)))


def test_the_same_rows_under_another_name_are_known_by_their_digest():
    copy = made("other", "g", train="copy.tsv", data=(FileDigest("copy.tsv", "1"),))
    model = SUBJECT.model_copy(update={"data": (FileDigest("a.tsv", "1"),)})
    with pytest.raises(UsageError, match="the same rows"):
        check_reference(model, copy)
