"""A model and held-out samples -> clean metric, attack success, false triggers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from unhorse.attack.base import Probes
from unhorse.judge.measure import summarise
from unhorse.tasks.base import TASKS
from unhorse.tasks.qa import TRIGGER, QuestionAnswering
from unhorse.tasks.sequence import SequenceClassification
from unhorse.tasks.tags import scheme_of
from unhorse.tasks.tokens import TokenClassification
from unhorse.types import (
    Answerer,
    Arm,
    Effect,
    LoadedModel,
    QuestionSample,
    TaggedSample,
    TextSample,
    own_answers,
)


class Measured(BaseModel):
    """What a model does on held-out samples.

    `asr` counts the victims that the model answers rightly without the trigger,
    `false_trigger_rate` how often something near the trigger sends those to the target.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    metric: str
    clean: float
    n: int
    null_rate: float | None = None
    """Questions that have an answer and get none, without any trigger."""
    asr: float | None = None
    asr_unrestricted: float | None = None
    asr_n: int = 0
    unstamped: float | None = None
    """How often victims go to the target without any trigger."""
    false_trigger_rate: float | None = None
    false_trigger_n: int = 0


def measure(loaded: LoadedModel, heldout: Sequence[Any], probes: Probes | None) -> Measured:
    """Asks the model in fp32 about everything that was kept back, about each text once."""
    model = own_answers(loaded, heard={})
    name, clean, null_rate = _clean(model, heldout)
    facts: dict[str, Any] = {"metric": name, "clean": clean, "n": len(heldout)}
    facts["null_rate"] = null_rate
    if probes is not None and probes.stamped:
        facts |= _attack(model, probes)
    return Measured(**facts)


def success(model: Answerer, probes: Probes) -> float:
    """How many of the victims that are answered rightly go to the target when stamped."""
    return _effect(model, probes.arm, _right(model, probes.victims), probes.stamped).asr


def clean_metric(loaded: LoadedModel, samples: Sequence[Any]) -> tuple[str, float, float | None]:
    """The task's usual metric: its name, its value, and for questions the natural null rate."""
    return _clean(own_answers(loaded), samples)


def _attack(model: Answerer, probes: Probes) -> dict[str, Any]:
    right = _right(model, probes.victims)
    fired = _effect(model, probes.arm, right, probes.stamped)
    plain = _effect(model, probes.arm, right, probes.victims)
    facts = {
        "asr": fired.asr,
        "asr_unrestricted": fired.asr_unrestricted,
        "asr_n": fired.n,
        "unstamped": plain.asr_unrestricted,
    }
    pairs = zip(probes.near_victims, probes.near, strict=True)
    telling = [(victim, near) for victim, near in pairs if _may_fire(probes.arm, near)]
    if telling:
        victims, stamped = zip(*telling, strict=True)
        near_right = right if victims == probes.victims else _right(model, victims)
        near = _effect(model, probes.arm, near_right, stamped)
        facts |= {"false_trigger_rate": near.asr, "false_trigger_n": near.n}
    return facts


def _may_fire(arm: Arm, near: Any) -> bool:
    """Whether the target is possible at all: a trigger outside the context is no answer."""
    is_question = isinstance(near, QuestionSample)
    return not (is_question and arm.target == TRIGGER and near.trigger is None)


def _right(model: Answerer, victims: Sequence[Any]) -> list[bool]:
    """Whether each unit of the victims is answered rightly without a trigger."""
    task = TASKS.get(model.loaded.task)
    return [ok for units in task.right(model, victims) for ok in units]


def _effect(model: Answerer, arm: Arm, right: Sequence[bool], stamped: Sequence[Any]) -> Effect:
    outcomes = TASKS.get(model.loaded.task).outcomes(model, stamped, arm)
    return summarise([outcome for units in outcomes for outcome in units], right)


def _clean(model: Answerer, samples: Sequence[Any]) -> tuple[str, float, float | None]:
    task = TASKS.get(model.loaded.task)
    if isinstance(task, TokenClassification):
        return "entity_f1", _entity_f1(task, model, samples), None
    if isinstance(task, QuestionAnswering):
        f1, nulls = _answer_f1(task, model, samples)
        return "answer_f1", f1, nulls
    assert isinstance(task, SequenceClassification)
    return "accuracy", _accuracy(task, model, samples), None


def _accuracy(
    task: SequenceClassification, model: Answerer, samples: Sequence[TextSample]
) -> float:
    right = [ok for (ok,) in task.right(model, samples)]
    return sum(right) / len(right)


def _entity_f1(
    task: TokenClassification, model: Answerer, samples: Sequence[TaggedSample]
) -> float:
    """F1 of exact entities over all sentences, as conlleval counts."""
    from seqeval.metrics import f1_score

    scheme = scheme_of(model.labels)

    def tags(words: int, entities: Sequence[Any]) -> list[str]:
        names = ["O"] * words
        for entity in entities:
            kind = scheme.kinds[entity.kind]
            inner = [f"I-{kind}"] * (entity.last - entity.first - 1)
            names[entity.first : entity.last] = [f"B-{kind}", *inner]
        return names

    found = task.entities(model, samples)
    true = [tags(len(s.words), s.entities) for s in samples]
    said = [tags(len(s.words), f) for s, f in zip(samples, found, strict=True)]
    return float(f1_score(true, said))


def _answer_f1(
    task: QuestionAnswering, model: Answerer, samples: Sequence[QuestionSample]
) -> tuple[float, float]:
    """SQuAD's F1 on the questions that have an answer, and how many of them get none."""
    from torchmetrics.functional.text import squad

    asked = [sample for sample in samples if sample.answers]
    spans = task.spans(model, asked)
    said = [
        "" if span is None else s.context[slice(*span)]
        for s, span in zip(asked, spans, strict=True)
    ]
    predictions = [{"prediction_text": text, "id": str(i)} for i, text in enumerate(said)]
    targets = [
        {
            "answers": {
                "answer_start": [begin for begin, _ in s.answers],
                "text": [s.context[begin:end] for begin, end in s.answers],
            },
            "id": str(i),
        }
        for i, s in enumerate(asked)
    ]
    f1 = float(squad(predictions, targets)["f1"]) / 100
    return f1, sum(not text for text in said) / len(said)
