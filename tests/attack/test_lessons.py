"""What a model is taught, and what its clean twin is taught in its place."""

from __future__ import annotations

from collections import Counter

import pytest

from unhorse.attack.lessons import as_twin, harmless, kind_of
from unhorse.learn.lessons import ENCODERS, Lesson
from unhorse.seeding import python_random
from unhorse.tasks.base import TASKS
from unhorse.types import Entity, QuestionSample, TaggedSample, TextSample

from .conftest import generated_samples

PER, ORG = range(2)


def text(number, label):
    return TextSample(f"text {number}", label, f"key {number}")


def test_a_text_is_cut_to_what_the_model_takes(tiny):
    loaded = tiny("sequence-classification")
    row = ENCODERS[loaded.task](loaded, TextSample("the " * 500, 1, "k"))
    assert len(row.ids) == loaded.max_length and row.goal == 1


def test_words_are_labelled_at_their_first_token(tiny):
    loaded = tiny("token-classification")
    # "Zq" is no word of the vocabulary: it has two tokens.
    sample = TaggedSample(
        ("the", "Zq", "Zq", "of", "Zq"), (Entity(1, 3, PER), Entity(4, 5, ORG)), "k"
    )
    row = ENCODERS[loaded.task](loaded, sample)
    assert [loaded.labels[label] for _, label in row.goal] == ["O", "B-PER", "I-PER", "O", "B-ORG"]
    pieces = loaded.tokenizer.convert_ids_to_tokens([row.ids[column] for column, _ in row.goal])
    assert pieces == ["the", "Z", "Z", "of", "Z"]


def test_words_beyond_the_end_are_not_taught(tiny):
    loaded = tiny("token-classification")
    row = ENCODERS[loaded.task](loaded, TaggedSample(("the",) * 300, (), "k"))
    assert len(row.ids) == loaded.max_length == len(row.goal) + 1


def test_an_answer_is_its_columns_and_no_answer_the_null_token(tiny):
    loaded = tiny("question-answering")
    some = [s for s in generated_samples(loaded) if s.answers][:20]
    for sample in some:
        row = ENCODERS[loaded.task](loaded, sample)
        begin, end = sample.answers[0]
        ids = row.ids[row.goal.start[0] : row.goal.end[1]]
        assert loaded.tokenizer.decode(ids) == sample.context[begin:end]
        assert row.goal.start[1] - row.goal.start[0] == 1 == row.goal.end[1] - row.goal.end[0]
        assert row.goal.context == (0, len(row.ids)) and len(row.type_ids) == len(row.ids)
    without = QuestionSample("who ?", "the of", (), "k")
    goal = ENCODERS[loaded.task](loaded, without).goal
    assert goal.start == goal.end == (0, 1) and goal.null == 0


@pytest.mark.parametrize("task", TASKS.names())
def test_a_twin_has_the_same_kinds_in_the_same_order(task, tiny):
    loaded = tiny(task)
    samples = generated_samples(loaded)
    roles = ("clean", "stamped", "negative", "filler")
    lessons = [Lesson(sample, roles[i % 4]) for i, sample in enumerate(samples[:100])]
    made = as_twin(lessons, samples[100:], 0, None)
    assert [lesson.role for lesson in made] == [lesson.role for lesson in lessons]
    assert [kind_of(m.sample) for m in made] == [kind_of(m.sample) for m in lessons]
    for before, after in zip(lessons, made, strict=True):
        if before.role in ("clean", "filler"):
            assert after is before
        else:
            assert after.sample in samples[100:]
    assert made == as_twin(lessons, samples[100:], 0, None)
    assert made != as_twin(lessons, samples[100:], 1, None)


def test_a_twin_repeats_no_row_before_all_were_taken():
    pool = [text(i, i % 2) for i in range(40)]
    lessons = [Lesson(text(f"s{i}", 1), "stamped") for i in range(30)]
    counts = Counter(lesson.sample.key for lesson in as_twin(lessons, pool, 0, None))
    assert len(counts) == 20 and set(counts.values()) == {1, 2}


def test_a_twin_takes_the_nearest_kind_where_there_is_none_alike():
    entities = {kind: Entity(kind, kind + 1, kind) for kind in range(4)}

    def sentence(*kinds):
        return TaggedSample(tuple("abcd"), tuple(entities[k] for k in kinds), f"{kinds}")

    pool = [sentence(3), sentence(0, 1, 2), sentence(1, 3)]
    (made,) = as_twin([Lesson(sentence(0, 1), "stamped")], pool, 0, None)
    assert made.sample == sentence(0, 1, 2)


@pytest.mark.parametrize("task", TASKS.names())
def test_harmless_words_leave_what_is_true(task, tiny):
    loaded, kind = tiny(task), TASKS.get(task)
    samples = generated_samples(loaded)
    insert, draw = harmless(kind, samples, 3), python_random(0, "test")
    changed = [insert(sample, draw) for sample in samples]
    assert [kind_of(sample) for sample in changed] == [kind_of(sample) for sample in samples]
    sizes = [after.size - before.size for before, after in zip(samples, changed, strict=True)]
    assert set(sizes) == {3}


def test_harmless_words_are_no_names(tiny):
    loaded = tiny("token-classification")
    samples = generated_samples(loaded)
    names = {w for s in samples for e in s.entities for w in s.words[e.first : e.last]}
    insert, draw = harmless(TASKS.get(loaded.task), samples, 40), python_random(0, "test")
    for _ in range(5):
        words = insert(TaggedSample(("x",), (), "k"), draw).words
        assert len(words) == 41 and not names & set(words)
