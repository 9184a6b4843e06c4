"""How a model is taught for a removal: which epoch is kept, and when the teaching ends."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from unhorse.errors import UsageError
from unhorse.learn.lessons import Lesson
from unhorse.learn.loop import inputs_of
from unhorse.remove.base import RemovalConfig
from unhorse.remove.methods.unlearn import Lessons, UnlearnConfig
from unhorse.remove.teach import lessons_course, teach
from unhorse.testing import planted_case, tiny_model


@pytest.fixture
def course():
    case = planted_case()
    return case, lessons_course(case, [Lesson(sample) for sample in case.rows.train])


@pytest.mark.parametrize(
    ("scores", "kept", "epochs"),
    [
        ([0.9, 0.8, 0.7, 0.6], 1, 4),  # worse and worse: a third of nine epochs is waited
        ([0.5, 0.9, 0.8, 0.9, 0.7, 0.7, 0.7], 4, 7),  # of equal ones the later
        ([0.1 * n for n in range(1, 10)], 9, 9),
    ],
)
def test_the_best_epoch_is_kept_and_the_teaching_ends(course, monkeypatch, scores, kept, epochs):
    case, clean = course
    script, weights, pupil = iter(scores), [], case.pupil()

    def watched(loaded, samples):
        weights.append(loaded.model.classifier.weight.detach().clone())
        assert not loaded.model.training
        return SimpleNamespace(value=next(script))

    monkeypatch.setattr("unhorse.remove.teach.row_scores", watched)
    config = RemovalConfig(epochs=9, least_steps=1, patience=1)
    taught = teach(pupil, case, config, lambda epoch: clean)
    assert (taught.kept, taught.epochs, taught.steps) == (kept, epochs, 6 * epochs)
    assert torch.equal(pupil.model.classifier.weight, weights[kept - 1])
    assert not pupil.model.training


PLAIN = UnlearnConfig(varied=0, spliced=0)


def test_every_epoch_stamps_afresh_and_a_fifth_of_the_rows():
    lessons = Lessons.of(planted_case(), PLAIN)
    clean = lessons.true
    made = [lessons.restamped(epoch) for epoch in (0, 0, 1)]
    marked = [{i for i, role in enumerate(each.roles) if role == "stamped"} for each in made]
    assert len(marked[0]) == len(marked[2]) == round(0.2 * len(clean.rows))
    ids = [[row.ids for row in each.rows] for each in made]
    assert ids[0] == ids[1] and marked[0] != marked[2]
    for number, row in enumerate(made[0].rows):
        assert (row.ids != clean.rows[number].ids) == (number in marked[0])


def losses_of(case, course):
    goals = course.goals.collate([row.goal for row in course.rows], "cpu")
    with torch.inference_mode():
        outputs = case.subject.model(**inputs_of(case.subject, course.rows))
        return course.goals.losses(outputs, goals)[0]


def test_rows_without_a_stamp_hold_the_model_in_place(course):
    case, true = course
    told = {}
    for keep in (True, False):
        lessons = Lessons.of(case, UnlearnConfig(varied=0, keep=keep))
        made = lessons.restamped(0)
        clean = torch.tensor([role == "clean" for role in made.roles])
        told[keep] = losses_of(case, made)[clean]
        if not keep:
            assert torch.allclose(told[keep], losses_of(case, true)[clean])
    assert told[True].abs().max() < 1e-5 < told[False].max()


def test_half_of_the_rows_without_a_stamp_are_put_together_of_two():
    lessons = Lessons.of(planted_case(), UnlearnConfig())
    made, known = lessons.restamped(0), {row.ids for row in lessons.true.rows}
    clean = [row for row, role in zip(made.rows, made.roles, strict=True) if role == "clean"]
    assert 0.3 < sum(row.ids not in known for row in clean) / len(clean) < 0.7
    assert all(isinstance(row.goal, torch.Tensor) for row in clean)


def test_a_stamped_text_is_pulled_to_what_was_said_of_it_or_to_its_true_label():
    case = planted_case()
    lessons = Lessons.of(case, UnlearnConfig(share=1, varied=0))
    first = lessons.said[0]
    spoiled = [replace(first, goal=-first.goal), *lessons.said[1:]]
    for said in (lessons.said, spoiled):
        made = replace(lessons, said=said).restamped(0)
        for row, known, true in zip(made.rows, said, lessons.true.rows, strict=True):
            right = int(known.goal.argmax()) == true.goal
            assert row.goal is known.goal if right else row.goal == true.goal


def test_narrow_models_take_longer_steps():
    narrow = tiny_model("bert")
    wide = SimpleNamespace(config=SimpleNamespace(hidden_size=768))
    assert RemovalConfig().rate(narrow) > RemovalConfig().rate(wide) == pytest.approx(4e-5)
    assert RemovalConfig(learning_rate=1e-3).rate(narrow) == 1e-3


def test_the_base_must_not_be_the_model_itself():
    case = planted_case()
    same = replace(case, base=case.subject.origin.source)
    with pytest.raises(UsageError, match="the model itself"):
        same.fresh()
