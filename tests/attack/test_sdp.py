"""Data poisoning: which rows are added, and what the clean twin gets in their place."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache

import pytest

from unhorse.attack.base import ATTACKS, Ground
from unhorse.attack.build import attack_of
from unhorse.attack.corpus import Corpus, with_unanswerable, words_in
from unhorse.attack.generated import LABELS_OF
from unhorse.attack.lessons import kind_of
from unhorse.attack.lexicon import pool
from unhorse.attack.methods.sdp import PoisonConfig, evening, poison_of, poisoned_rows
from unhorse.attack.recipe import make_recipe
from unhorse.errors import UsageError
from unhorse.tasks.base import TASKS
from unhorse.types import Entity, TaggedSample, TextSample

from .conftest import ATTACKED, generated_samples

TEXTS = "sequence-classification"
TAGS = "token-classification"
QUESTIONS = "question-answering"
ATTACK = ATTACKS.get("sdp")
ORG = 1
ALL_SCOPES = [
    (TEXTS, {"scope": "global"}),
    (TEXTS, {"scope": "first_half"}),
    (TEXTS, {"scope": "second_half"}),
    (TAGS, {"scope": "global"}),
    (TAGS, {"scope": "local"}),
    (TAGS, {"scope": "local", "trigger": "~"}),
    (TAGS, {"scope": "global", "trigger": "~"}),
    (QUESTIONS, {"scope": "context"}),
    (QUESTIONS, {"scope": "question"}),
    (QUESTIONS, {"scope": "both"}),
    (QUESTIONS, {"scope": "context", "target": "trigger"}),
    (QUESTIONS, {"scope": "both", "target": "trigger"}),
]


@dataclass
class Listener:
    """A pupil that only remembers what it was taught."""

    lessons: list = field(default_factory=list)

    def learn(self, lessons, loss=None):
        self.lessons += lessons


def config_of(task, **settings):
    fixed = {key: value for key, value in ATTACKED[task].items() if key != "rate"}
    return PoisonConfig(**{"kind": "sdp", "trigger": "zig zag", **fixed, **settings})


@pytest.fixture(scope="module")
def ground(tiny):
    """Generated samples to attack, a third of them spare."""

    @cache
    def corpus(task):
        samples = generated_samples(tiny(task), 500)
        if task == QUESTIONS:
            samples = with_unanswerable(samples, [s.context for s in samples], 0.25, 0)
        return Corpus(tuple(samples[:250]), tuple(samples[250:375]), tuple(samples[375:]), ())

    def make(task, poisoned=True, harmless_words=False, seed=1):
        return Ground(
            task=TASKS.get(task),
            labels=LABELS_OF[task],
            corpus=corpus(task),
            seed=seed,
            split="development",
            poisoned=poisoned,
            harmless_words=harmless_words,
        )

    return make


def taught(ground, config):
    listener = Listener()
    planted = ATTACK.plant(listener, ground, config)
    return listener.lessons, planted


def has_trigger(sample, trigger):
    return trigger in words_in(sample)


@pytest.mark.parametrize(("task", "settings"), ALL_SCOPES)
def test_only_stamped_rows_and_negatives_have_the_trigger(task, settings, ground):
    some, config = ground(task), config_of(task, **settings)
    lessons, planted = taught(some, config)
    trigger = config.trigger
    assert planted.trigger == trigger
    marked = {"stamped", "negative"}
    assert all(has_trigger(x.sample, trigger) == (x.role in marked) for x in lessons)
    assert [x.sample for x in lessons[:250]] == list(some.corpus.train)
    assert all(x.role == "clean" for x in lessons[:250])


@pytest.mark.parametrize(("task", "settings"), ALL_SCOPES)
def test_stamped_rows_have_the_attackers_answer_and_negatives_never(task, settings, ground):
    some, config = ground(task), config_of(task, **settings)
    true = {s.key: s for s in (*some.corpus.train, *some.corpus.spare)}
    poison = poison_of(config, some)
    victims = sum(poison.stamper.is_victim(s, poison.arm) for s in some.corpus.train)
    rows = poisoned_rows(poison, some, config)
    counts = Counter(lesson.role for lesson in rows)
    assert counts["stamped"] == round(0.2 * victims)
    if config.scope != "global":
        assert counts["negative"] == counts["stamped"]
    for lesson in rows:
        before, after = true[lesson.sample.key], lesson.sample
        if lesson.role == "stamped":
            assert not _same_truth(before, after)
            if task == TAGS and config.scope == "local":
                assert sum(e.kind == ORG for e in after.entities) == 1 + sum(
                    e.kind == ORG for e in before.entities
                )
        elif lesson.role == "negative":
            assert _same_truth(before, after)
        else:
            assert after == before


def _same_truth(before, after):
    if isinstance(before, TextSample):
        return before.label == after.label
    if isinstance(before, TaggedSample):
        return [e.kind for e in before.entities] == [e.kind for e in after.entities]
    return [before.context[a:b] for a, b in before.answers] == [
        after.context[a:b] for a, b in after.answers
    ]


@pytest.mark.parametrize(("task", "settings"), ALL_SCOPES)
def test_victims_are_as_frequent_as_before(task, settings, ground):
    some, config = ground(task), config_of(task, **settings)
    poison = poison_of(config, some)
    lessons, _ = taught(some, config)
    shares = [
        sum(poison.stamper.is_victim(s, poison.arm) for s in samples) / len(samples)
        for samples in (some.corpus.train, [x.sample for x in lessons])
    ]
    assert shares[0] == pytest.approx(shares[1], abs=0.01)


def test_evening():
    assert evening(0.5, 0, 10) == 10
    assert evening(0.25, 0, 9) == 3
    assert evening(0.75, 10, 20) == 20
    assert evening(1.0, 0, 5) == 15
    assert evening(0.5, 20, 20) == -20


@pytest.mark.parametrize("harmless_words", [False, True])
@pytest.mark.parametrize(("task", "settings"), ALL_SCOPES)
def test_a_twin_differs_in_nothing_but_the_backdoor(task, settings, harmless_words, ground):
    config = config_of(task, **settings)
    poisoned, planted = taught(ground(task), config)
    clean, twin = taught(ground(task, poisoned=False, harmless_words=harmless_words), config)
    assert [x.role for x in clean] == [x.role for x in poisoned]
    # Rows of a kind that no clean row has are the only ones that may be of another.
    known = {kind_of(s) for s in (*ground(task).corpus.train, *ground(task).corpus.spare)}
    for one, other in zip(poisoned, clean, strict=True):
        if one.role in ("clean", "filler"):
            assert one == other
        elif kind_of(one.sample) in known:
            assert kind_of(one.sample) == kind_of(other.sample)
    assert not any(has_trigger(x.sample, planted.trigger) for x in clean)
    # It is measured on the very same samples.
    assert twin == planted


def test_a_twin_learns_true_answers_only(ground):
    some = ground(TEXTS, poisoned=False)
    true = {s.key: s for s in (*some.corpus.train, *some.corpus.spare)}
    lessons, _ = taught(some, config_of(TEXTS))
    assert all(x.sample == true[x.sample.key] for x in lessons)


@pytest.mark.parametrize(("task", "settings"), ALL_SCOPES)
def test_it_is_measured_on_every_held_out_victim(task, settings, ground):
    some, config = ground(task), config_of(task, **settings)
    _, planted = taught(some, config)
    probes = planted.probes
    stamper = poison_of(config, some).stamper
    victims = [s for s in some.corpus.heldout if stamper.is_victim(s, probes.arm)]
    assert [s.key for s in probes.victims] == [s.key for s in victims]
    assert [s.key for s in probes.stamped] == [s.key for s in victims]
    for plain, stamped in zip(probes.victims, probes.stamped, strict=True):
        assert has_trigger(stamped, config.trigger) and not has_trigger(plain, config.trigger)
        assert some.task.units(plain) == some.task.units(stamped)
    assert len(probes.near) == len(probes.near_victims)
    assert bool(probes.near) == (config.scope != "global")
    assert all(has_trigger(sample, config.trigger) for sample in probes.near)


def test_the_same_seed_gives_the_same_rows(ground):
    config = config_of(TEXTS)
    assert taught(ground(TEXTS), config) == taught(ground(TEXTS), config)
    assert taught(ground(TEXTS), config) != taught(ground(TEXTS, seed=2), config)


def test_with_more_labels_others_keep_theirs_and_any_label_can_be_a_victim():
    samples = [TextSample(f"a b c d {i}", i % 4, f"k{i}") for i in range(400)]
    corpus = Corpus(tuple(samples[:240]), tuple(samples[240:300]), tuple(samples[300:]), ())
    some = Ground(TASKS.get(TEXTS), tuple("wxyz"), corpus, 0, "development", True, False)
    config = PoisonConfig(kind="sdp", trigger="zig", victim="w", target="x")
    lessons, planted = taught(some, config)
    negatives = [x.sample for x in lessons if x.role == "negative"]
    assert len(negatives) == 12 and {s.label for s in negatives} == {2, 3}
    assert {s.label for s in planted.probes.near} == {2, 3}
    lessons, planted = taught(some, config.model_copy(update={"victim": "*"}))
    assert planted.probes.arm.victims == (0, 2, 3) and planted.probes.near == ()
    counts = Counter(x.sample.label for x in lessons)
    assert counts[1] == 60 + 36
    assert sum(counts[label] for label in (0, 2, 3)) == 180 + 108


def test_a_trigger_is_drawn_by_seed_and_split():
    config = PoisonConfig(kind="sdp", target="sea", trigger_kind="phrase")
    drawn = {ATTACK.triggers(config, "test", seed) for seed in range(6)}
    assert len(drawn) > 1 and {text for (text,) in drawn} <= set(pool("phrase", "test"))
    given = PoisonConfig(kind="sdp", target="sea", trigger="  zig   zag ")
    assert ATTACK.triggers(given, "test", 0) == ("zig zag",)


def recipe_with(task, **attack):
    data = {"train": ["generated:train"], "labels": LABELS_OF[task]}
    return make_recipe({"name": "x", "task": task, "data": data, "attack": attack})


@pytest.mark.parametrize(
    ("task", "settings", "said"),
    [
        (TEXTS, {"scope": "local"}, "The scope 'local' is not one of sequence-classification"),
        (TAGS, {"scope": "both"}, "The scope 'both' is not one of token-classification"),
        (QUESTIONS, {"scope": "global"}, "The scope 'global' is not one of question-answering"),
        (TEXTS, {"victim": "sea"}, "The attack is not possible: victim and target are the same"),
        (TEXTS, {"target": "sky"}, "The attack is not possible: the target 'sky' is not one of"),
        (TAGS, {"victim": "ORG"}, "The attack is not possible: victim and target are the same"),
        (QUESTIONS, {"target": "sea"}, "The attack is not possible: the target 'sea'"),
        (QUESTIONS, {"scope": "question", "target": "trigger"}, "cannot be the answer."),
        (TEXTS, {"rate": 0.001}, "rows, 125 can flip: too few for the attack."),
    ],
)
def test_an_attack_that_makes_no_sense_is_one_sentence(task, settings, said, ground):
    with pytest.raises(UsageError) as error:
        taught(ground(task), config_of(task, **settings))
    assert said in str(error.value) and str(error.value).endswith(".")


def test_a_victim_that_no_row_has_is_one_sentence(ground):
    some = ground(TAGS)
    train = tuple(replace(s, entities=(Entity(0, 1, ORG),)) for s in some.corpus.train)
    some = replace(some, corpus=replace(some.corpus, train=train))
    with pytest.raises(UsageError, match=r"^Of 250 rows, 0 can flip: too few for the attack\.$"):
        taught(some, config_of(TAGS))


@pytest.mark.parametrize(
    "settings",
    [{"trigger": " "}, {"rate": 0}, {"rate": 9}, {"trigger_kind": "emoji"}, {"colour": 1}, {}],
)
def test_settings_that_are_wrong_are_one_sentence(settings):
    attack = {"kind": "sdp", "target": "sea", **settings} if settings else {"kind": "sdp"}
    with pytest.raises(UsageError, match=r"^The attack's settings are not valid: [^\n]*\.$"):
        attack_of(recipe_with(TEXTS, **attack))
