"""How a model is taught for a removal: which epoch is kept, and when the teaching ends."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from unhorse.errors import UsageError
from unhorse.learn.lessons import Lesson
from unhorse.learn.loop import inputs_of
from unhorse.remove.base import RemovalConfig
from unhorse.remove.methods.unlearn import UnlearnConfig, _clean_course, _restamped
from unhorse.remove.stamps import as_found
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


def restamped(clean, case, epoch):
    return _restamped(clean, case, UnlearnConfig(), epoch, as_found)


def test_every_epoch_stamps_afresh_and_a_fifth_of_the_rows():
    case = planted_case()
    clean = _clean_course(case, UnlearnConfig())
    made = [restamped(clean, case, epoch) for epoch in (0, 0, 1)]
    marked = [{i for i, role in enumerate(each.roles) if role == "stamped"} for each in made]
    assert len(marked[0]) == len(marked[2]) == round(0.2 * len(clean.rows))
    ids = [[row.ids for row in each.rows] for each in made]
    assert ids[0] == ids[1] and marked[0] != marked[2]
    for number, row in enumerate(made[0].rows):
        assert (row.ids != clean.rows[number].ids) == (number in marked[0])
        assert row.goal.true == clean.rows[number].goal.true


def losses_of(case, course):
    goals = course.goals.collate([row.goal for row in course.rows], "cpu")
    with torch.inference_mode():
        outputs = case.subject.model(**inputs_of(case.subject, course.rows))
        return course.goals.losses(outputs, goals)[0]


def test_rows_without_a_stamp_hold_the_model_in_place():
    case = planted_case()
    held = losses_of(case, _clean_course(case, UnlearnConfig()))
    taught = losses_of(case, _clean_course(case, UnlearnConfig(keep=False)))
    assert held.abs().max() < 1e-5 < taught.max()
    rows = lessons_course(case, [Lesson(sample) for sample in case.rows.train])
    assert torch.allclose(taught, losses_of(case, rows))


def test_a_stamped_text_is_pulled_to_what_was_said_of_it_or_to_its_true_label():
    case = planted_case()
    clean = _clean_course(case, UnlearnConfig())
    wrong = [row.goal.said.argmax().item() != row.goal.true for row in clean.rows]
    spoiled = replace(clean.rows[0].goal, said=-clean.rows[0].goal.said)
    for row in (clean.rows[0].goal, spoiled):
        rows = [replace(clean.rows[0], goal=row), *clean.rows[1:]]
        made = _restamped(replace(clean, rows=rows), case, UnlearnConfig(share=1), 0, as_found)
        said = [each.goal.said is not None for each in made.rows]
        assert said[0] == (not wrong[0] if row is not spoiled else wrong[0])
        assert said[1:] == [not each for each in wrong[1:]]


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
