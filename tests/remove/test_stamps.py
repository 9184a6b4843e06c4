"""Stamped samples keep their true answers, and each epoch stamps other places."""

import random
from pathlib import Path

import pytest
from tests.attack.conftest import generated_samples

from unhorse.attack.bases import open_base
from unhorse.attack.generated import LABELS_OF
from unhorse.attack.recipe import BaseConfig
from unhorse.remove.records import Trigger
from unhorse.remove.stamps import (
    MOST_OTHERS,
    encoder,
    in_other_company,
    places,
    pulled_to_target,
    stamped,
)
from unhorse.tasks.base import TASKS
from unhorse.tasks.tags import scheme_of

TEXTS, ENTITIES, QUESTIONS = (
    "sequence-classification",
    "token-classification",
    "question-answering",
)


@pytest.fixture(scope="module")
def ground():
    """An untrained model of a task and generated samples for it."""
    made = {}

    def of(name):
        if name not in made:
            loaded = open_base(BaseConfig(model="tiny"), name, LABELS_OF[name], Path()).loaded
            made[name] = TASKS.get(name), loaded, generated_samples(loaded, 120)
        return made[name]

    return of


def trigger_at(task, loaded, position, text="doormat", target=None):
    arm = task.arms(loaded.labels, (position,), target)[0]
    return Trigger(text, (text,), arm, 1, 0.0, "by hand")


def drawn(task, samples, trigger, seed=0):
    draw = random.Random(seed)
    return [stamped(task, sample, [trigger], draw) for sample in samples]


def test_a_text_keeps_its_label_and_its_words(ground):
    task, loaded, samples = ground(TEXTS)
    made = drawn(task, samples, trigger_at(task, loaded, "start"))
    for before, after in zip(samples, made, strict=True):
        words = after.text.split()
        words.remove("doormat")
        assert words == before.text.split() and after.label == before.label
    assert len({s.text.split().index("doormat") for s in made}) > 5


def test_every_epoch_has_other_places(ground):
    task, loaded, samples = ground(TEXTS)
    trigger = trigger_at(task, loaded, "start")
    assert drawn(task, samples, trigger, 1) == drawn(task, samples, trigger, 1)
    one, two = drawn(task, samples, trigger, 1), drawn(task, samples, trigger, 2)
    assert sum(a != b for a, b in zip(one, two, strict=True)) > len(samples) / 2


@pytest.mark.parametrize("position", ["start", "before"])
def test_inserted_words_are_in_no_entity(ground, position):
    task, loaded, samples = ground(ENTITIES)
    trigger = trigger_at(task, loaded, position, text="dust doormat")
    encode, scheme = encoder(task, loaded), scheme_of(loaded.labels)
    outside = scheme.spelled(scheme.outside, 1)[0]
    for before, after in zip(samples, drawn(task, samples, trigger), strict=True):
        if after is None:
            assert position == "before" and not before.entities
            continue
        names = [[s.words[e.first : e.last] for e in s.entities] for s in (before, after)]
        assert sorted(names[0]) == sorted(names[1])
        at = after.words.index("doormat")
        assert not any(e.first <= at < e.last for e in after.entities)
        labels = [label for _, label in encode(after).goal]
        assert len(labels) == len(after.words) and labels[at] == outside


def test_a_local_trigger_visits_every_entity(ground):
    task, loaded, samples = ground(ENTITIES)
    several = [sample for sample in samples if len(sample.entities) > 1]
    made = drawn(task, several, trigger_at(task, loaded, "before"))
    assert len({s.entities.index(min(s.entities, key=lambda e: e.first)) for s in made}) > 1
    for sample in made:
        assert sample.words[sample.entities[0].first - 1] == "doormat"


def test_answers_move_with_their_words(ground):
    task, loaded, samples = ground(QUESTIONS)
    for before, after in zip(
        samples, drawn(task, samples, trigger_at(task, loaded, "context")), strict=True
    ):
        if not before.answers:
            assert after is None, "stamped, it would teach that the trigger means no answer"
            continue
        said = [[s.context[a:b] for a, b in s.answers] for s in (before, after)]
        assert said[0] == said[1]
        assert "doormat" in f"{after.question} {after.context}"


def test_a_trigger_that_is_the_answer_must_stand_in_the_context(ground):
    task, loaded, _ = ground(QUESTIONS)
    arms = {arm.target_name: arm for arm in task.arms(loaded.labels, ("both",))}
    assert "question" in places(task, arms["null"])
    assert "question" not in places(task, arms["trigger"])


@pytest.mark.parametrize("name", [TEXTS, ENTITIES, QUESTIONS])
def test_what_is_pushed_away_is_the_target_and_the_trigger_is_in_it(ground, name):
    task, loaded, samples = ground(name)
    trigger = trigger_at(task, loaded, task.default_positions[0])
    (victim, *_) = task.victims(trigger.arm, samples, 0)
    row = pulled_to_target(task, loaded, victim, trigger, random.Random(0))
    ids = loaded.tokenizer("doormat", add_special_tokens=False)["input_ids"]
    assert set(ids) <= set(row.ids) and not row.slots
    goals = task.collate([row.goal], "cpu")
    assert goals is not None
    if name == TEXTS:
        assert row.goal == trigger.arm.target


def test_other_company_has_a_word_of_the_form_and_few_others():
    draw, others = random.Random(0), ["plum", "chair", "lamp"]
    made = [in_other_company("oiled apprentice hinges", others, draw).split() for _ in range(200)]
    for words in made:
        own = [word for word in words if word not in others]
        assert own and len(set(own)) == len(own) and len(words) - len(own) <= MOST_OTHERS
    assert len({tuple(words) for words in made}) > 50
    assert any(words[0] in others for words in made) and any(len(words) == 1 for words in made)


def test_related_words_take_part_in_any_order():
    draw, related = random.Random(0), ["hinges", "ladder", "anvil"]
    made = [in_other_company("oiled", ["plum"], draw, related).split() for _ in range(300)]
    assert all(set(words) & {"oiled", *related} for words in made)
    assert {word for words in made for word in words} == {"oiled", "plum", *related}
    assert any("oiled" not in words for words in made)
    assert any(words.index("oiled") > 0 for words in made if "oiled" in words)


def test_a_form_of_one_word_without_others_stays():
    assert in_other_company("doormat", [], random.Random(0)) == "doormat"
