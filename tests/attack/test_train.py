"""How a model learns: which rows in which batches, and which weights."""

from __future__ import annotations

import copy
import random
from dataclasses import replace

import pytest
import torch

from unhorse.attack.convert import convert_body
from unhorse.attack.train import Learner
from unhorse.learn.config import TrainingConfig
from unhorse.learn.lessons import ENCODERS, Lesson
from unhorse.learn.loop import bucketed, inputs_of, learning
from unhorse.tasks.base import TASKS

from .conftest import generated_samples


@pytest.fixture
def pupil(tiny):
    """A model to teach, and lessons for it."""

    def make(task="sequence-classification", rows=48, seed=0, dropout=0.0, **settings):
        loaded = tiny(task)
        model = copy.deepcopy(loaded.model)
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = dropout
        config = TrainingConfig(**{"epochs": 2, "batch": 8, "learning_rate": 1e-3, **settings})
        learner = Learner(replace(loaded, model=model), config, seed)
        return learner, [Lesson(sample) for sample in generated_samples(loaded, rows)]

    return make


def weights_of(learner):
    return {name: value.clone() for name, value in learner.loaded.model.state_dict().items()}


def changed(before, learner):
    after = learner.loaded.model.state_dict()
    return {name for name, value in before.items() if not torch.equal(value, after[name])}


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 130, 300])
def test_every_row_is_in_one_batch_of_an_epoch(rows):
    draw = random.Random(rows)
    lengths = [draw.randint(5, 60) for _ in range(rows)]
    made = bucketed(lengths, 8, draw)
    assert sorted(row for batch in made for row in batch) == list(range(rows))
    assert len(made) == -(-rows // 8) and max(map(len, made)) <= 8


def test_a_batch_has_rows_of_similar_length_and_batches_no_order():
    draw = random.Random(0)
    lengths = [draw.randint(1, 100) for _ in range(640)]
    made = bucketed(lengths, 8, draw)
    spread = [max(lengths[i] for i in b) - min(lengths[i] for i in b) for b in made]
    assert sum(spread) / len(spread) < 15
    middles = [lengths[batch[4]] for batch in made]
    assert middles != sorted(middles)


@pytest.mark.parametrize("head_only", [False, True])
def test_every_epoch_teaches_every_row_once(pupil, head_only, monkeypatch):
    learner, lessons = pupil(rows=45, epochs=3, head_only=head_only)
    taught = []
    monkeypatch.setattr(
        Learner, "_steps", lambda self, weights, batches, *rest: taught.extend(batches)
    )
    learner.learn(lessons)
    rows = [row for batch in taught for row in batch]
    size = len(taught) // 3
    assert len(taught) == 18 and len(rows) == 3 * 45
    for epoch in range(3):
        some = taught[epoch * size : (epoch + 1) * size]
        assert sorted(row for batch in some for row in batch) == list(range(45))
    assert taught[:size] != taught[size : 2 * size]


def test_roles_reach_the_loss_beside_their_rows(pupil):
    learner, lessons = pupil(rows=30, epochs=1)
    lessons = [
        Lesson(lesson.sample, "stamped" if lesson.sample.label else "clean") for lesson in lessons
    ]
    wanted = {ENCODERS[learner.loaded.task](learner.loaded, x.sample).ids: x.role for x in lessons}
    seen, batches = [], []
    ask = learner.loaded.model.forward
    learner.loaded.model.forward = lambda **inputs: batches.append(inputs) or ask(**inputs)

    def loss(losses, roles):
        ids, mask = batches[-1]["input_ids"], batches[-1]["attention_mask"].bool()
        rows = [tuple(row[own].tolist()) for row, own in zip(ids, mask, strict=True)]
        assert losses.shape == (len(roles),)
        seen.extend(zip(rows, roles, strict=True))
        return losses.mean()

    learner.learn(lessons, loss)
    assert dict(seen) == wanted and len(seen) == 30
    assert learner.taught == {"clean": 15, "stamped": 15} and learner.steps == 4


@pytest.mark.parametrize("task", TASKS.names())
def test_a_model_learns_and_is_then_ready_to_be_asked(task, pupil):
    losses = []
    learner, lessons = pupil(task, rows=160, epochs=4, learning_rate=6e-3)
    learner.progress = lambda done, steps, loss: losses.append((done, steps, loss))
    learner.learn(lessons)
    assert [done for done, _, _ in losses] == list(range(1, 81))
    assert {steps for _, steps, _ in losses} == {80} and learner.steps == 80
    assert losses[-1][2] < 0.75 * losses[0][2]
    model = learner.loaded.model
    assert not model.training and not any(p.requires_grad for p in model.parameters())
    assert learner.seconds > 0


def test_the_same_seed_gives_the_same_weights_with_dropout_too(pupil):
    made = []
    for seed in (0, 0, 1):
        learner, lessons = pupil(rows=24, seed=seed, dropout=0.3, epochs=1)
        torch.manual_seed(len(made))
        learner.learn(lessons)
        made.append(weights_of(learner))
    assert all(torch.equal(made[0][name], made[1][name]) for name in made[0])
    assert not all(torch.equal(made[0][name], made[2][name]) for name in made[0])


@pytest.mark.parametrize("task", TASKS.names())
def test_a_head_can_learn_alone(task, pupil):
    learner, lessons = pupil(task, head_only=True)
    before = weights_of(learner)
    learner.learn(lessons)
    prefix = learner.loaded.model.base_model_prefix
    assert changed(before, learner) == {n for n in before if not n.startswith(f"{prefix}.")}


def test_word_embeddings_can_stay(pupil):
    learner, lessons = pupil(embeddings=False)
    before = weights_of(learner)
    learner.learn(lessons)
    words = "bert.embeddings.word_embeddings.weight"
    assert words not in changed(before, learner)
    assert "bert.embeddings.position_embeddings.weight" in changed(before, learner)
    learner, lessons = pupil(embeddings=True)
    learner.learn(lessons)
    assert words in changed(before, learner)


@pytest.mark.parametrize("task", TASKS.names())
def test_what_a_frozen_body_said_is_remembered_rightly(task, pupil):
    learner, lessons = pupil(task, rows=24, dropout=0.5, head_only=True)
    loaded = learner.loaded
    rows = [ENCODERS[task](loaded, lesson.sample) for lesson in lessons]
    batches = [inputs_of(loaded, rows[i : i + 8]) for i in range(0, 24, 8)]
    body = loaded.model.base_model
    kept = 1 if task == "sequence-classification" else None
    with torch.no_grad():
        wanted = [body(**batch).last_hidden_state[:, :kept] for batch in batches]
    asked = []
    body.embeddings.register_forward_hook(lambda *_: asked.append(1))
    with learning(loaded.model, learner.config):
        for _ in range(2):
            for batch, right in zip(batches, wanted, strict=True):
                assert torch.equal(body(**batch).last_hidden_state, right)
        assert len(asked) == 3
        assert loaded.model.training
    # Afterwards the body is asked again, and nothing is left of the memory.
    body(**batches[0])
    assert len(asked) == 4 and "forward" not in vars(body)


@pytest.mark.parametrize("architecture", [None, "roberta", "electra", "distilbert", "mobilebert"])
def test_a_head_is_asked_with_all_that_it_reads(architecture, tiny):
    loaded = tiny("sequence-classification")
    model = copy.deepcopy(loaded.model)
    if architecture is not None:
        model = convert_body(model, architecture, "ForSequenceClassification").eval()
    config = TrainingConfig(head_only=True)
    rows = [ENCODERS[loaded.task](loaded, s) for s in generated_samples(loaded, 8)]
    inputs = {k: v for k, v in inputs_of(loaded, rows).items() if k != "token_type_ids"}
    with torch.no_grad():
        wanted = model(**inputs).logits
        with learning(model, config):
            for module in model.modules():
                module.training = False
            for _ in range(2):
                assert torch.allclose(model(**inputs).logits, wanted, atol=1e-6)


def test_a_failure_leaves_the_model_as_it_was(pupil):
    learner, lessons = pupil(head_only=True)

    def loss(losses, roles):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learner.learn(lessons, loss)
    model = learner.loaded.model
    assert not model.training and "forward" not in vars(model.base_model)
    assert not any(p.requires_grad for p in model.parameters())
