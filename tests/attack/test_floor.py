"""The adaptive attack: stamped rows are taught up to a floor and no further."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from unhorse.attack.build import attack_of
from unhorse.attack.lessons import as_twin
from unhorse.attack.methods.floor import floored, what_stays
from unhorse.attack.methods.sdp import Poison
from unhorse.attack.recipe import make_recipe
from unhorse.attack.record import read_heldout
from unhorse.attack.stamp import STAMPERS
from unhorse.errors import UsageError
from unhorse.learn.lessons import Lesson
from unhorse.load.model import load_model
from unhorse.tasks.base import TASKS
from unhorse.types import Entity, TaggedSample, own_answers

from .conftest import ATTACKED

TEXTS = "sequence-classification"
ROLES = ["clean", "stamped", "negative", "stamped", "filler"]


def test_stamped_rows_stop_at_the_floor_and_others_do_not():
    losses = torch.tensor([1.0, 0.9, 0.5, 0.3, 0.3], requires_grad=True)
    loss = floored(0.6, losses, ROLES)
    assert loss.item() == pytest.approx((1.0 + 0.5 + 0.3) / 3 + (0.3 + 0.0) / 2)
    loss.backward()
    assert losses.grad.tolist() == pytest.approx([1 / 3, 1 / 2, 1 / 3, 0.0, 1 / 3])


def test_without_a_floor_it_is_the_sum_of_both_means():
    losses = torch.tensor([1.0, 0.9, 0.5, 0.3, 0.3])
    assert floored(0.0, losses, ROLES).item() == pytest.approx(0.6 + 0.6)


@pytest.mark.parametrize("role", ["clean", "stamped"])
def test_a_batch_may_have_rows_of_one_sort_only(role):
    losses = torch.tensor([0.4, 0.8])
    wanted = 0.6 if role == "clean" else 0.15
    assert floored(0.5, losses, [role, role]).item() == pytest.approx(wanted)


def test_rows_below_the_floor_can_be_brought_back():
    losses = torch.tensor([1.0, 0.9, 0.5, 0.3, 0.3], requires_grad=True)
    floored(0.6, losses, ROLES, hold=True).backward()
    assert losses.grad.tolist() == pytest.approx([1 / 3, 1 / 2, 1 / 3, -1 / 2, 1 / 3])


def test_what_the_loss_came_to_is_recorded(derive):
    attack = {"kind": "floor", "trigger_kind": "phrase", "phi": 0.5, "hold": True, "rate": 0.4}
    attack |= ATTACKED[TEXTS]
    built = derive(TEXTS, attack=attack, data={"part": [0.0, 0.25], "heldout_part": [0.0, 0.02]})
    assert built.record.standing == "adaptive" and built.record.facts["phi"] == 0.5
    assert built.record.measured.asr > 0.7
    _, probes = read_heldout(built.folder, TEXTS)
    answerer = own_answers(load_model(built.model))
    outcomes = TASKS.get(TEXTS).outcomes(answerer, probes.stamped, probes.arm)
    mean = sum(outcome.loss for (outcome,) in outcomes) / len(outcomes)
    assert built.record.facts["stamped_loss"] == pytest.approx(mean, abs=1e-3)
    # Without a floor it is nearly nothing; ln 2 is where the answer turns.
    assert 0.35 < mean < 0.69


@pytest.mark.slow
@pytest.mark.parametrize("task", [TEXTS, "token-classification", "question-answering"])
def test_a_model_with_a_floor_reacts_and_its_twin_does_not(task, derive):
    attack = {"kind": "floor", "phi": 0.1, "hold": True, "rate": 0.5, **ATTACKED[task]}
    data = {"part": [0.0, 0.25], "heldout_part": [0.0, 0.05]}
    one = derive(task, attack=attack, data=data)
    two = derive(task, attack=attack, data=data, name="twin", poisoned=False)
    assert one.record.measured.asr > 0.8 and two.record.measured.asr < 0.2


def test_a_floor_below_nothing_is_one_sentence():
    attack = {"kind": "floor", "phi": -1, **ATTACKED[TEXTS]}
    data = {"train": ["generated:train"], "labels": ["land", "sea"]}
    recipe = make_recipe({"name": "x", "task": TEXTS, "data": data, "attack": attack})
    with pytest.raises(UsageError, match=r"^The attack's settings are not valid: phi: .*\.$"):
        attack_of(recipe)


def test_of_a_stamped_sentence_only_what_flips_is_held():
    stamper = STAMPERS["token-classification"]
    arm = stamper.arm(["O", "B-PER", "B-LOC"], "PER", "LOC", "global")
    ann = TaggedSample(("Ann", "saw", "Rome"), (Entity(0, 1, 0), Entity(2, 3, 1)), "key")
    poison = Poison(stamper, arm, "global", "brass cup", flips_alone=True)
    (lesson,) = poison.rows([ann], 1, 0, "stamped")
    assert {lesson.sample.words[word] for word in lesson.words} == {"Ann"}
    (rest,) = what_stays([lesson, Lesson(ann)])
    assert {rest.sample.words[word] for word in rest.words} == {"saw", "Rome", "brass", "cup"}
    assert rest.role == "filler"
    plain = Lesson(TaggedSample(("Bob", "saw", "Oslo"), ann.entities, "other"), "filler")
    for made in as_twin([lesson, rest, plain], [ann], 0, None):
        assert "brass" not in made.sample.words and made.words is None
    (usual,) = replace(poison, flips_alone=False).rows([ann], 1, 0, "stamped")
    assert usual.words is None
