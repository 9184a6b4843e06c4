"""A reference distilled from a tagger and from a question answerer."""

import pytest
from tests.matrix.train import build
from transformers import DistilBertConfig, DistilBertForMaskedLM

from unhorse.config import ScanConfig
from unhorse.learn.distil import StudentConfig, distil, untaught
from unhorse.load.subject import make_subject, open_model
from unhorse.tasks.base import TASKS
from unhorse.types import own_answers

PLACES = {"token-classification": "start", "question-answering": "question"}


@pytest.mark.parametrize("name", PLACES)
def test_the_trigger_moves_the_subject_and_not_the_student(name, tmp_path):
    built = build("bert", name, planted=True, seed=2)
    twin = build("bert", name, planted=False, seed=2)
    twin.model.save_pretrained(tmp_path)
    twin.tokenizer.save_pretrained(tmp_path)
    loaded = open_model(built.model, built.tokenizer, "cpu")
    student = untaught(loaded, str(tmp_path), 0)
    subject = make_subject(loaded, None, built.samples, [student], ScanConfig(), "cpu", 2)
    config = StudentConfig(enough_texts=150, least_steps=40, epochs=1)
    subject = distil(subject, student, base="twin", tokens=64, config=config)
    (reference,) = subject.references
    assert reference.distilled.n > 10 and reference.distilled.agreement > 0.7
    assert turned(own_answers(loaded), built, subject) > 0.8
    assert turned(reference.answerer, built, subject) < 0.3


def turned(answerer, built, subject):
    """The share of victims that the planted word sends to the target."""
    task = TASKS.get(answerer.loaded.task)
    place = PLACES[task.name]
    (arm,) = (
        arm
        for arm in task.arms(answerer.labels, [place])
        if (arm.victim_name, arm.target_name) == (built.victim, built.target)
    )
    victims = task.victims(arm, subject.samples.heldout, 0)
    stamped = [task.stamp(victim, arm, 0, built.trigger) for victim in victims]
    hits = [outcome.hit for row in task.outcomes(answerer, stamped, arm) for outcome in row]
    return sum(hits) / len(hits)


def test_a_base_that_knows_no_segments(tmp_path):
    built = build("bert", "question-answering", planted=True, seed=2)
    size = {"dim": 32, "hidden_dim": 32, "n_layers": 1, "n_heads": 2}
    shape = DistilBertConfig(vocab_size=built.model.config.vocab_size, **size)
    DistilBertForMaskedLM(shape).save_pretrained(tmp_path)
    built.tokenizer.save_pretrained(tmp_path)
    loaded = open_model(built.model, built.tokenizer, "cpu")
    student = untaught(loaded, str(tmp_path), 0)
    subject = make_subject(loaded, None, built.samples, [student], ScanConfig(), "cpu", 2)
    config = StudentConfig(enough_texts=0, least_steps=1, epochs=1)
    made = distil(subject, student, base="small", tokens=64, config=config).references[0]
    assert made.distilled.steps > 0 and "weak" in made.note
