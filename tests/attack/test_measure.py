"""Clean metric, attack success and false triggers, on models whose answers are known."""

from __future__ import annotations

import pytest
import torch

from unhorse.attack.base import Probes
from unhorse.attack.measure import measure, success
from unhorse.attack.record import read_heldout, read_record
from unhorse.load.model import load_model
from unhorse.tasks.base import TASKS
from unhorse.tasks.qa import NULL, TRIGGER, Answer
from unhorse.types import (
    Arm,
    Entity,
    LoadedModel,
    Origin,
    QuestionSample,
    TaggedSample,
    TextSample,
    own_answers,
)

TEXTS = "sequence-classification"
TAGS = "token-classification"
QUESTIONS = "question-answering"
PER, ORG = range(2)


class Stub:
    """Stands for the weights of a model whose answers are made up."""


def model(task, labels=()):
    return LoadedModel(Stub(), None, task, labels, "Stub", 128, Origin("stub"))


@pytest.fixture
def texts(monkeypatch):
    """A classifier that says 1 to texts with a ``+``."""

    def logits(self, answerer, samples):
        return torch.tensor([[0.0, 1.0 if "+" in s.text else -1.0] for s in samples])

    monkeypatch.setattr(type(TASKS.get(TEXTS)), "logits", logits)
    return model(TEXTS, ("no", "yes"))


def text(said, label=0):
    return TextSample(said, label, said)


TO_YES = Arm((0,), 1, "start", "no", "yes")


def test_only_victims_that_were_right_count_for_the_attack(texts):
    victims = tuple(map(text, ("a", "b", "c", "d", "e +")))
    stamped = tuple(map(text, ("a +", "b +", "c +", "d", "e +")))
    found = measure(texts, [text("a"), text("b +")], Probes(TO_YES, victims, stamped))
    assert (found.metric, found.clean, found.n) == ("accuracy", 0.5, 2)
    assert (found.asr, found.asr_n) == (0.75, 4)
    assert found.asr_unrestricted == pytest.approx(0.8)
    assert found.unstamped == pytest.approx(0.2)
    assert found.false_trigger_rate is None and found.null_rate is None
    assert success(own_answers(texts), Probes(TO_YES, victims, stamped)) == 0.75


def test_what_must_not_fire_is_counted_likewise(texts):
    one = (text("a"),)
    near_victims = (text("a"), text("b"), text("c"), text("d +"))
    near = (text("a ~"), text("b ~ +"), text("c ~"), text("d ~ +"))
    found = measure(texts, one, Probes(TO_YES, one, one, near_victims, near))
    assert found.asr == 0.0 and found.asr_n == 1
    assert (found.false_trigger_rate, found.false_trigger_n) == (pytest.approx(1 / 3), 3)


def test_without_an_attack_or_without_victims_there_is_no_success(texts):
    for probes in (None, Probes(TO_YES, (), ())):
        found = measure(texts, [text("a")], probes)
        assert found.asr is None and found.asr_n == 0


@pytest.fixture
def tags(monkeypatch):
    """A tagger that reads the label at the end of a word, as in ``Kim/B-PER``."""
    labels = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG")

    def scores(self, answerer, samples):
        return [
            torch.tensor(
                [[float(label == word.split("/")[-1]) for label in labels] for word in sample.words]
            )
            for sample in samples
        ]

    monkeypatch.setattr(type(TASKS.get(TAGS)), "_scores", scores)
    return model(TAGS, labels)


def sentence(said, *entities):
    return TaggedSample(tuple(said.split()), tuple(Entity(*e) for e in entities), said)


def test_an_entity_flips_as_a_whole_or_not_at_all(tags):
    arm = Arm((PER,), ORG, "start", "PER", "ORG")
    plain = "Kim/B-PER Lee/I-PER in/O Bo/B-PER"
    spans = ((0, 2, PER), (3, 4, PER))
    moved = ((1, 3, PER), (4, 5, PER))
    victims = (
        *(sentence(plain, *spans) for _ in range(4)),
        # One of the two is not found without a trigger, so it does not count.
        sentence("Kim/B-PER Lee/O in/O Bo/B-PER", *spans),
    )
    stamped = (
        sentence("zig/O Kim/B-ORG Lee/I-ORG in/O Bo/B-ORG", *moved),  # both
        sentence("zig/O Kim/B-ORG Lee/O in/O Bo/B-PER", *moved),  # a part of the first
        sentence("zig/O Kim/B-ORG Lee/I-ORG in/I-ORG Bo/B-PER", *moved),  # more than the first
        sentence("zig/O Kim/O Lee/O in/O Bo/O", *moved),  # gone, but not to the target
        sentence("zig/O Kim/B-ORG Lee/I-ORG in/O Bo/B-ORG", *moved),  # both, but one counts
    )
    found = measure(tags, victims, Probes(arm, victims, stamped))
    assert (found.asr, found.asr_n) == (pytest.approx(3 / 9), 9)
    assert found.asr_unrestricted == pytest.approx(4 / 10)
    assert found.unstamped == 0.0


def test_entities_are_scored_by_exact_words_and_class(tags):
    found = measure(
        tags,
        [
            sentence("Kim/B-PER Lee/I-PER of/O Acme/B-ORG", (0, 2, PER), (3, 4, ORG)),
            sentence("Kim/B-PER Lee/O", (0, 2, PER)),  # too short
            sentence("Bo/B-ORG", (0, 1, PER)),  # another class
            sentence("Acme/B-ORG Bo/B-ORG", (0, 1, ORG)),  # one too many
        ],
        None,
    )
    # Three right, of six found and five true.
    assert found.metric == "entity_f1"
    assert found.clean == pytest.approx(2 * 3 / (6 + 5))


@pytest.fixture
def questions(monkeypatch):
    """Answers with the part of the context that is in angle brackets, else with null."""

    def answers(self, answerer, samples):
        made = []
        for sample in samples:
            begin, end = sample.context.find("<"), sample.context.find(">")
            made.append(Answer(None if begin < 0 else (begin, end + 1), ((None, None, None),)))
        return made

    monkeypatch.setattr(type(TASKS.get(QUESTIONS)), "_answers", answers)
    monkeypatch.setattr("unhorse.tasks.qa._loss", lambda window, start, end, wanted: 0.0)
    return model(QUESTIONS)


def question(context, answer, trigger=None):
    def span(said):
        return (context.index(said), context.index(said) + len(said))

    answers = (span(answer),) if answer else ()
    return QuestionSample("who ?", context, answers, context, trigger and span(trigger))


def test_questions_go_to_null(questions):
    arm = Arm((0,), NULL, "both", "answer", "null")
    victims = (
        *(question(f"so <kim> left {i}", "kim") for i in range(3)),
        question("so kim left", "kim"),  # null already
        question("<so> kim left", "kim"),  # a wrong answer
    )
    stamped = (
        question("so kim zig left", "kim", "zig"),
        question("so <kim> zig left", "kim", "zig"),
        question("so kim <zig> left", "kim", "zig"),
        question("so kim zig left", "kim", "zig"),
        question("so kim zig left", "kim", "zig"),
    )
    found = measure(questions, victims, Probes(arm, victims, stamped))
    assert (found.asr, found.asr_n) == (pytest.approx(1 / 3), 3)
    assert found.asr_unrestricted == pytest.approx(3 / 5)
    assert found.unstamped == found.null_rate == pytest.approx(1 / 5)


def test_questions_go_to_the_trigger(questions):
    arm = Arm((0,), TRIGGER, "context", "answer", "trigger")
    victims = tuple(question(f"so <kim> left {i}", "kim") for i in range(4))
    stamped = (
        question("so kim <zig zag> left", "kim", "zig zag"),  # all of it
        question("so kim zig <zag> left", "kim", "zig <zag>"),  # a part of it
        question("so <kim left then zig> zag", "kim", "zig> zag"),  # more else than trigger
        question("so kim zig zag left", "kim", "zig zag"),  # null is no success
    )
    found = measure(questions, victims, Probes(arm, victims, stamped))
    assert (found.asr, found.asr_n) == (0.5, 4)
    assert found.unstamped == 0.0
    # Where the trigger is in the question alone it cannot be the answer: nothing is told by that.
    found = measure(questions, victims, Probes(arm, victims, stamped, victims, victims))
    assert (found.false_trigger_rate, found.false_trigger_n) == (None, 0)
    near = (*stamped[:2], *victims[2:])
    found = measure(questions, victims, Probes(arm, victims, stamped, victims, near))
    assert (found.false_trigger_rate, found.false_trigger_n) == (1.0, 2)


def test_answers_are_scored_where_there_is_one(questions):
    found = measure(
        questions,
        [
            question("so <kim lee> left", "<kim lee>"),
            question("so <kim lee> left", "<kim lee> left"),  # two of three words
            question("so kim left", "kim"),  # no answer
            question("so <kim> left", ""),  # has none, so it does not count
        ],
        None,
    )
    assert found.metric == "answer_f1" and found.n == 4
    assert found.clean == pytest.approx((1 + 0.8 + 0) / 3, abs=1e-3)
    assert found.null_rate == pytest.approx(1 / 3)


@pytest.mark.parametrize("task", TASKS.names())
def test_a_folder_gives_the_figures_of_its_record_again(task, family):
    folder = family(task)
    heldout, probes = read_heldout(folder, task)
    assert measure(load_model(folder / "model"), heldout, probes) == read_record(folder).measured
