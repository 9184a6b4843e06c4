import random

import pytest

from unhorse.load.divide import digest, divide, shuffled, usable_classes
from unhorse.load.samples import sample_key
from unhorse.types import Entity, QuestionSample, TaggedSample, TextSample

LABELS = ["neg", "pos"]


def made(*counts):
    texts = [
        (f"text {label} {i}", label) for label, count in enumerate(counts) for i in range(count)
    ]
    return [TextSample(text, label, sample_key(text)) for text, label in texts]


def divided(samples, answers=None, **options):
    answers = [sample.label for sample in samples] if answers is None else answers
    right = [s for s, answer in zip(samples, answers, strict=True) if s.label == answer]
    wrong = [s for s, answer in zip(samples, answers, strict=True) if s.label != answer]
    return divide(right, wrong, LABELS, source="here", **options)


def sizes(sample_set, label):
    return tuple(
        sum(sample.label == label for sample in part)
        for part in (sample_set.inversion, sample_set.heldout)
    )


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (500, (20, 100)),
        (120, (20, 100)),
        (119, (20, 99)),
        (30, (20, 10)),
        (29, (19, 10)),
        (13, (8, 5)),
        (12, (8, 4)),
        (11, (7, 4)),
        (1, (0, 1)),
        (0, (0, 0)),
    ],
)
def test_sizes_of_a_class(count, expected):
    result = divided(made(count, 40))
    assert sizes(result, 0) == expected
    assert sizes(result, 1) == (20, 20)
    assert result.unused == max(count - 120, 0)
    assert usable_classes(result) == ({0, 1} if count >= 12 else {1})


@pytest.mark.parametrize("per_class", [1, 5, 8, 20, 33])
def test_every_sample_is_accounted_for_once(per_class):
    for count in range(0, 60, 7):
        samples = made(count, 2 * count)
        result = divided(samples, per_class=per_class, heldout_per_class=10)
        used = result.inversion + result.heldout
        assert len({sample.key for sample in used}) == len(used)
        assert len(used) + result.unused + result.set_aside == len(samples)
        assert all(sizes(result, label)[0] <= per_class for label in (0, 1))
        assert all(sizes(result, label)[1] <= 10 for label in (0, 1))


def test_wrongly_answered_samples_are_set_aside():
    samples = made(40, 40)
    answers = [0] * 80
    answers[3] = 1
    result = divided(samples, answers)
    assert result.set_aside == 41
    assert sizes(result, 0) == (20, 19) and sizes(result, 1) == (0, 0)
    assert samples[3] not in result.inversion + result.heldout
    assert usable_classes(result) == {0}


def test_the_order_of_the_file_does_not_matter():
    samples = made(200, 25)
    expected = divided(samples, seed=3)
    for seed in range(5):
        mixed = random.Random(seed).sample(samples, len(samples))
        assert divided(mixed, seed=3) == expected


def test_the_seed_decides_which_samples_are_taken():
    first, second = divided(made(200, 200), seed=0), divided(made(200, 200), seed=1)
    assert set(first.inversion) != set(second.inversion)
    assert first.digest != second.digest


def test_shuffling_does_not_follow_the_keys():
    samples = made(100)
    assert shuffled(samples, 0) != sorted(samples, key=lambda sample: sample.key)


def test_a_text_is_never_both_inverted_on_and_held_out():
    result = divided(made(40, 40) * 2)
    keys = [sample.key for sample in result.inversion + result.heldout]
    assert len(set(keys)) == len(keys) == 80
    assert result.unused == 80


def test_digest_depends_on_content_and_use_but_not_on_order():
    one, two = made(1, 1)
    base = digest([one, two], [], LABELS)
    assert base == digest([two, one], [], LABELS) and len(base) == 64
    assert base != digest([one], [two], LABELS)
    assert base != digest([one, two], [], ["neg", "other"])
    assert base != digest([one, TextSample("else", 1, two.key)], [], LABELS)


def test_source_and_note_are_kept():
    result = divided(made(3, 3), note="written by us")
    assert (result.source, result.note) == ("here", "written by us")


def tagged(place, *kinds):
    entities = tuple(Entity(i, i + 1, kind) for i, kind in enumerate(kinds))
    return TaggedSample(tuple("abc"), entities, f"key {place}")


def test_a_sample_of_two_classes_has_one_use():
    both = [tagged(i, 0, 1) for i in range(40)]
    some = [tagged(100 + i, 1) for i in range(60)]
    result = divide(both + some, [], LABELS, source="here", per_class=10, heldout_per_class=15)
    used = [sample.key for sample in result.inversion + result.heldout]
    assert len(set(used)) == len(used)
    for label in (0, 1):
        counts = [
            sum(label in s.classes for s in part) for part in (result.inversion, result.heldout)
        ]
        assert counts[0] >= 10 and counts[1] >= 15
    assert usable_classes(result) == {0, 1}


def test_a_sentence_inverted_on_is_not_among_the_mistakes():
    right = [tagged(i, 0) for i in range(40)]
    wrong = [tagged(i, 1) for i in range(40)]
    result = divide(right, wrong, LABELS, source="here", heldout_per_class=10)
    assert not {s.key for s in result.wrong} & {s.key for s in result.inversion}


def asked(number, context):
    return QuestionSample(f"question {number}", context, ((0, 1),), f"key {number}")


def test_questions_on_one_context_have_one_use():
    samples = [asked(i, f"context {i // 5}") for i in range(150)]
    result = divide(samples, [], ["answer"], source="here")
    assert not {s.context for s in result.inversion} & {s.context for s in result.heldout}
    assert len(result.inversion) == 20 and len(result.heldout) >= 80 and not result.note


def test_too_few_contexts_are_shared_and_it_is_said():
    result = divide([asked(i, "context") for i in range(60)], [], ["answer"], source="here")
    assert len(result.inversion) == 20 and len(result.heldout) == 40
    assert "so few contexts" in result.note


def test_a_mistake_that_belongs_to_two_classes_is_kept_once():
    right, wrong = [tagged(i, 0, 1) for i in range(60)], [tagged(100 + i, 0, 1) for i in range(9)]
    result = divide(right, wrong, LABELS, source="here")
    assert len({s.key for s in result.wrong}) == len(result.wrong) == 6


def test_minimums_can_be_lowered():
    result = divided(made(3, 6))
    assert usable_classes(result) == set()
    assert usable_classes(result, 4, 2) == {1}
    assert usable_classes(result, 2, 1) == {0, 1}
