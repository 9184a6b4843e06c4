"""Which arms are planned, screened out or starved."""

from types import SimpleNamespace

import pytest
import torch

from unhorse.arms.plan import plan_arms
from unhorse.arms.screen import kept_pairs, screened, too_many
from unhorse.config import make_config
from unhorse.errors import UsageError
from unhorse.tasks.base import TASKS
from unhorse.types import Answerer, SampleSet, TextSample

TASK = TASKS.get("sequence-classification")


def labels(count):
    return tuple(f"l{i}" for i in range(count))


def subject(count, monkeypatch, affinity=None, starving=()):
    samples = [
        TextSample(f"{label} {i}", label, f"{label} {i}")
        for label in range(count)
        if label not in starving
        for i in range(12)
    ]
    parts = SampleSet("here", "", tuple(samples), tuple(samples))
    if affinity is not None:
        monkeypatch.setattr(type(TASK), "affinity", lambda *_: affinity)
    loaded = SimpleNamespace(task=TASK.name, labels=labels(count))
    return SimpleNamespace(
        loaded=loaded, samples=parts, answerer=Answerer(loaded, labels(count), ())
    )


def every_pair(count):
    return {(v, t) for v in range(count) for t in range(count) if v != t}


def test_up_to_twelve_pairs_are_all_run(monkeypatch):
    plan = plan_arms(subject(4, monkeypatch), make_config())
    assert len(plan.arms) == (12 + 4) * 2 and not plan.screened


def test_many_labels_start_from_universal_arms_and_likely_pairs(monkeypatch):
    affinity = torch.full((20, 20), -9.0)
    affinity[3, 7] = affinity[11, 2] = -1.0
    plan = plan_arms(subject(20, monkeypatch, affinity), make_config())
    universal = [arm for arm in plan.arms if len(arm.victims) > 1]
    pairs = {(arm.victims[0], arm.target) for arm in plan.arms if len(arm.victims) == 1}
    assert len(universal) == 20 * 2 and len(pairs) == 20
    assert {(3, 7), (11, 2)} <= pairs
    assert len(plan.arms) + len(plan.screened) == (380 + 20) * 2


def test_one_target_does_not_take_all_places():
    affinity = torch.full((8, 8), -9.0)
    affinity[:, 0] = -0.5
    kept = kept_pairs(affinity, every_pair(8))
    assert sum(target == 0 for _, target in kept) == 3 and len(kept) == 12


def test_a_class_without_samples_has_no_pairs():
    affinity = torch.full((6, 6), -2.0)
    affinity[1] = torch.nan
    assert all(victim != 1 for victim, _ in kept_pairs(affinity, every_pair(6)))


def test_only_pairs_that_are_asked_for_are_kept():
    asked = {(victim, 5) for victim in range(5)}
    assert kept_pairs(torch.full((20, 20), -2.0), asked) < asked


def test_classes_without_samples_do_not_switch_screening_off(monkeypatch):
    affinity = torch.full((20, 20), -9.0)
    plan = plan_arms(subject(20, monkeypatch, affinity, starving=(3, 8)), make_config())
    universal = [arm for arm in plan.arms if arm.victim_name == "*"]
    assert len(universal) == 40 and len(plan.arms) == 40 + 20 * 2
    assert all(not {3, 8} & set(arm.victims) for arm in plan.arms)
    assert {arm.victims for arm in plan.starved} == {(3,), (8,)}


def test_without_universal_arms_nothing_is_screened():
    arms = [arm for arm in TASK.arms(labels(6), ["start"]) if len(arm.victims) == 1]
    assert not too_many(arms) and too_many(TASK.arms(labels(6), ["start"]))
    assert screened(arms, set())[0] == []


def test_starved_arms_are_told_apart(monkeypatch):
    plan = plan_arms(subject(3, monkeypatch, starving=(2,)), make_config(positions=["start"]))
    assert {arm.victims for arm in plan.starved} == {(2,), (1, 2), (0, 2)}


def test_a_place_that_the_task_does_not_have_is_refused(monkeypatch):
    with pytest.raises(UsageError, match="'glued' in sequence-classification"):
        plan_arms(subject(2, monkeypatch), make_config(positions=["glued"]))
