"""How a model is taught for a removal: which epoch is kept, and when the teaching ends."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from unhorse.errors import UsageError
from unhorse.learn.lessons import Lesson
from unhorse.remove.base import RemovalConfig
from unhorse.remove.methods.unlearn import UnlearnConfig, _restamped
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


def test_every_epoch_stamps_afresh_and_a_fifth_of_the_rows(course):
    case, clean = course
    made = [_restamped(clean, case, UnlearnConfig(), epoch) for epoch in (0, 0, 1)]
    marked = [{i for i, role in enumerate(each.roles) if role == "stamped"} for each in made]
    assert len(marked[0]) == len(marked[2]) == round(0.2 * len(clean.rows))
    assert made[0].rows == made[1].rows and marked[0] != marked[2]
    for number, row in enumerate(made[0].rows):
        assert (row.ids != clean.rows[number].ids) == (number in marked[0])
        assert row.goal == clean.rows[number].goal


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
