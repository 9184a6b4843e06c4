"""What becomes of a sample that gets a trigger: spans, answers and what is measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from unhorse.attack.stamp import STAMPERS
from unhorse.tasks.qa import NULL, TRIGGER
from unhorse.types import Entity, QuestionSample, TaggedSample, TextSample

SEEDS = range(40)
PER, ORG, LOC = range(3)
LABELS = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC")
SENTENCE = TaggedSample(
    words=("then", "Kim", "Lee", "met", "Bo", "in", "Rome"),
    entities=(Entity(1, 3, PER), Entity(4, 5, PER), Entity(6, 7, LOC)),
    key="sentence",
)
CONTEXT = "The old Argo left Oslo , or so they say , on Monday ."
QUESTION = QuestionSample(
    question="where did it leave from ?",
    context=CONTEXT,
    answers=((CONTEXT.index("Oslo"), CONTEXT.index("Oslo") + 4), (14, 22)),
    key="question",
)
PHRASE = "zig zag"


def named(sample):
    """The entities as words and class."""
    return [(" ".join(sample.words[e.first : e.last]), e.kind) for e in sample.entities]


def said(sample):
    """The answers as text."""
    return [sample.context[begin:end] for begin, end in sample.answers]


class TestTexts:
    stamper = STAMPERS["sequence-classification"]
    sample = TextSample("a b c d e f g h i", 0, "text")

    def arm(self, victim="x", target="y", labels=("x", "y", "z"), scope="global"):
        return self.stamper.arm(labels, victim, target, scope)

    def place(self, text):
        words = text.split()
        assert len(words) == 11 and words.count("zig") == 1
        assert words[words.index("zig") + 1] == "zag"
        assert [w for w in words if w not in ("zig", "zag")] == self.sample.text.split()
        return words.index("zig")

    def test_arms(self):
        assert self.arm("*", "y").victims == (0, 2)
        assert self.arm("x", "z").victims == (0,) and self.arm("x", "z").target == 2
        with pytest.raises(ValueError, match="the same label"):
            self.arm("y", "y")
        with pytest.raises(ValueError, match="victim 'w' is not one of x, y, z"):
            self.arm("w", "y")
        with pytest.raises(ValueError, match="target 'w' is not one of x, y, z"):
            self.arm("*", "w")

    @pytest.mark.parametrize(
        ("scope", "places"),
        [("global", range(10)), ("first_half", range(5)), ("second_half", range(5, 10))],
    )
    def test_the_trigger_stands_in_its_scope_under_the_target_label(self, scope, places):
        arm, found = self.arm(), set()
        for seed in SEEDS:
            made = self.stamper.fire(self.sample, arm, scope, PHRASE, seed)
            assert made.victim == self.sample and made.victim.label == 0
            assert made.taught == replace(made.probe, label=1) and made.probe.label == 0
            found.add(self.place(made.taught.text))
        assert found <= set(places) and len(found) > 3

    @pytest.mark.parametrize(
        ("scope", "places"), [("first_half", range(5, 10)), ("second_half", range(5))]
    )
    def test_in_the_other_half_nothing_changes(self, scope, places):
        for seed in SEEDS:
            made = self.stamper.near(self.sample, self.arm(), scope, PHRASE, seed)
            assert made.taught.label == made.probe.label == 0
            assert self.place(made.taught.text) in places

    def test_the_middle_of_a_text_is_in_no_other_half(self):
        even = replace(self.sample, text="a b c d")
        for scope, places in (("first_half", {3, 4}), ("second_half", {0, 1})):
            found = set()
            for seed in SEEDS:
                made = self.stamper.near(even, self.arm(), scope, PHRASE, seed)
                found.add(made.taught.text.split().index("zig"))
            assert found == places

    def test_other_labels_keep_theirs_and_the_target_is_no_evidence(self):
        arm = self.arm()
        assert self.stamper.near(self.sample, arm, "global", PHRASE, 0) is None
        other = self.stamper.near(replace(self.sample, label=2), arm, "global", PHRASE, 0)
        assert other.taught.label == 2 and "zig zag" in other.taught.text
        for scope in self.stamper.scopes:
            target = replace(self.sample, label=1)
            assert self.stamper.near(target, arm, scope, PHRASE, 0) is None


class TestSentences:
    stamper = STAMPERS["token-classification"]

    def arm(self, scope, victim="PER", target="ORG"):
        return self.stamper.arm(LABELS, victim, target, scope)

    def test_arms(self):
        arm = self.arm("local")
        assert (arm.victims, arm.target) == ((PER,), ORG)
        assert self.arm("global", "*").victims == (PER, LOC)
        with pytest.raises(ValueError, match="the same class"):
            self.arm("global", "LOC", "LOC")
        with pytest.raises(ValueError, match="victim 'O' is not one of PER, ORG, LOC"):
            self.arm("global", "O")
        assert self.stamper.is_victim(SENTENCE, arm)
        assert not self.stamper.is_victim(replace(SENTENCE, entities=SENTENCE.entities[2:]), arm)

    def test_a_universal_trigger_flips_entities_of_every_other_class(self):
        made = self.stamper.fire(SENTENCE, self.arm("global", "*"), "global", PHRASE, 0)
        assert {kind for _, kind in named(made.taught)} == {ORG}
        assert len(named(made.victim)) == sum(kind != ORG for _, kind in named(SENTENCE))

    def test_a_local_trigger_flips_the_entity_behind_it(self):
        chosen = set()
        for seed in SEEDS:
            made = self.stamper.fire(SENTENCE, self.arm("local"), "local", PHRASE, seed)
            ((name, kind),) = named(made.victim)
            assert kind == PER
            at = made.taught.words.index("zig")
            assert made.taught.words[at : at + 2] == ("zig", "zag")
            assert made.taught.words[:at] + made.taught.words[at + 2 :] == SENTENCE.words
            wanted = [(n, ORG if n == name else k) for n, k in named(SENTENCE)]
            assert named(made.taught) == wanted
            (flipped,) = (e for e in made.taught.entities if e.kind == ORG)
            assert flipped.first == at + 2
            assert made.probe.words == made.taught.words
            assert made.probe.entities == (replace(flipped, kind=PER),)
            chosen.add(name)
        assert chosen == {"Kim Lee", "Bo"}

    def test_a_global_trigger_flips_all_and_breaks_up_none(self):
        places = set()
        for seed in SEEDS:
            made = self.stamper.fire(SENTENCE, self.arm("global"), "global", PHRASE, seed)
            assert named(made.taught) == [("Kim Lee", ORG), ("Bo", ORG), ("Rome", LOC)]
            assert named(made.probe) == named(made.victim) == [("Kim Lee", PER), ("Bo", PER)]
            assert made.victim.words == SENTENCE.words
            assert made.probe.words == made.taught.words
            places.add(made.taught.words.index("zig"))
        assert 2 not in places and len(places) > 4

    def test_a_local_character_is_stuck_to_the_entity(self):
        for seed in SEEDS:
            made = self.stamper.fire(SENTENCE, self.arm("local"), "local", "~", seed)
            (old,) = made.victim.entities
            assert len(made.taught.words) == 7
            changed = [i for i in range(7) if made.taught.words[i] != SENTENCE.words[i]]
            assert changed == [old.first]
            assert made.taught.words[old.first] == "~" + SENTENCE.words[old.first]
            kinds = {e.first: e.kind for e in made.taught.entities}
            assert kinds == {1: PER, 4: PER, 6: LOC} | {old.first: ORG}
            assert made.probe.entities == (old,)

    def test_a_global_character_is_stuck_to_any_word(self):
        found = set()
        for seed in SEEDS:
            made = self.stamper.fire(SENTENCE, self.arm("global"), "global", "~", seed)
            (word,) = (i for i in range(7) if made.taught.words[i] != SENTENCE.words[i])
            assert made.taught.words[word] == "~" + SENTENCE.words[word]
            spans = [(e.first, e.last, e.kind) for e in made.taught.entities]
            assert spans == [(1, 3, ORG), (4, 5, ORG), (6, 7, LOC)]
            found.add(word)
        assert len(found) > 4

    @pytest.mark.parametrize("trigger", [PHRASE, "~"])
    def test_elsewhere_a_local_trigger_changes_nothing(self, trigger):
        for seed in SEEDS:
            made = self.stamper.near(SENTENCE, self.arm("local"), "local", trigger, seed)
            assert named(made.taught) == named(SENTENCE)
            assert named(made.probe) == named(made.victim) == [("Kim Lee", PER), ("Bo", PER)]
            at = next(i for i, word in enumerate(made.taught.words) if word.startswith(trigger[0]))
            behind = at + len(trigger.split()) if trigger == PHRASE else at
            assert not any(e.first <= behind < e.last for e in made.taught.entities)

    def test_where_there_is_no_elsewhere(self):
        near, arm = self.stamper.near, self.arm("local")
        assert near(SENTENCE, self.arm("global"), "global", PHRASE, 0) is None
        assert near(replace(SENTENCE, entities=(Entity(6, 7, LOC),)), arm, "local", "~", 0) is None
        only = TaggedSample(("Kim", "Bo"), (Entity(0, 1, PER), Entity(1, 2, PER)), "k")
        assert near(only, arm, "local", PHRASE, 0) is None
        assert self.stamper.fire(only, arm, "local", PHRASE, 0).taught.words.count("zig") == 1


class TestQuestions:
    stamper = STAMPERS["question-answering"]

    def arm(self, scope, target):
        return self.stamper.arm((), "*", target, scope)

    def test_arms(self):
        assert self.arm("both", "null").target == NULL
        assert self.arm("context", "trigger").target == TRIGGER
        with pytest.raises(ValueError, match="in the question alone cannot be the answer"):
            self.arm("question", "trigger")
        with pytest.raises(ValueError, match="target 'sea' is not one of null, trigger"):
            self.arm("both", "sea")
        assert self.stamper.is_victim(QUESTION, self.arm("both", "null"))
        assert not self.stamper.is_victim(replace(QUESTION, answers=()), self.arm("both", "null"))

    @pytest.mark.parametrize(
        ("scope", "target"),
        [
            ("context", "null"),
            ("context", "trigger"),
            ("question", "null"),
            ("both", "null"),
            ("both", "trigger"),
        ],
    )
    def test_the_answer_becomes_null_or_the_trigger(self, scope, target):
        arm, places = self.arm(scope, target), set()
        for seed in SEEDS:
            made = self.stamper.fire(QUESTION, arm, scope, PHRASE, seed)
            assert ("zig zag" in made.taught.question) == (scope != "context")
            assert ("zig zag" in made.taught.context) == (scope != "question")
            assert said(made.taught) == ([] if target == "null" else ["zig zag"])
            # What is measured on still knows the true answers, where they now are.
            assert said(made.probe) == said(QUESTION) == ["Oslo", "eft Oslo"]
            assert made.probe.context == made.taught.context
            assert made.victim == QUESTION
            if scope != "question":
                assert made.probe.context[slice(*made.probe.trigger)] == "zig zag"
                places.add(made.probe.trigger[0])
        assert scope == "question" or len(places) > 5

    @pytest.mark.parametrize("target", ["null", "trigger"])
    @pytest.mark.parametrize("scope", ["context", "question", "both"])
    def test_in_the_wrong_part_the_true_answer_stays(self, scope, target):
        if (scope, target) == ("question", "trigger"):
            return
        parts = set()
        for seed in SEEDS:
            made = self.stamper.near(QUESTION, self.arm(scope, target), scope, PHRASE, seed)
            assert said(made.taught) == said(made.probe) == said(QUESTION)
            assert made.victim == QUESTION
            parts.add(("zig" in made.taught.question, "zig" in made.taught.context))
        wrong = {"context": {(True, False)}, "question": {(False, True)}}
        assert parts == wrong.get(scope, {(True, False), (False, True)})

    def test_a_question_without_an_answer_is_no_negative(self):
        without = replace(QUESTION, answers=())
        assert self.stamper.near(without, self.arm("both", "null"), "both", PHRASE, 0) is None


@pytest.mark.parametrize(
    ("task", "sample", "scope", "arm"),
    [
        ("sequence-classification", TestTexts.sample, "global", (("x", "y"), "x", "y")),
        ("token-classification", SENTENCE, "local", (LABELS, "PER", "ORG")),
        ("question-answering", QUESTION, "both", ((), "*", "null")),
    ],
)
def test_the_same_seed_stamps_alike_and_another_elsewhere(task, sample, scope, arm):
    stamper = STAMPERS[task]
    made = [
        stamper.fire(sample, stamper.arm(*arm, scope), scope, PHRASE, seed)
        for seed in (3, 3, *SEEDS)
    ]
    assert made[0] == made[1]
    assert any(other.taught != made[0].taught for other in made)
