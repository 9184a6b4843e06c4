"""Sequence classification: a whole text has one label.

A victim is a text of a victim label, the trigger goes between two of its words,
a flip is the target label, and the loss is the cross entropy to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from unhorse.errors import ModelRefused, UsageError
from unhorse.load.labels import label_index
from unhorse.load.samples import sample_key
from unhorse.load.texts import neutral_texts
from unhorse.seeding import python_random
from unhorse.tasks.ask import ask
from unhorse.tasks.base import TASKS, EncodedRow, Goal, Outcome, SampleKind
from unhorse.tasks.slots import STAND_IN, open_slots, plain_encoding, tokens_of
from unhorse.triggers.place import IN_TEXT, boundary, insert
from unhorse.types import ANY_LABEL, Answerer, Arm, LoadedModel, Position, Row, TextSample


class SequenceClassification:
    """The task of models that end in ``ForSequenceClassification``."""

    name = "sequence-classification"
    head = "ForSequenceClassification"
    sample_kind: SampleKind = "text"
    unit = "texts"
    positions: tuple[Position, ...] = IN_TEXT
    default_positions: tuple[Position, ...] = ("start", "end")
    telling_words = 120

    def auto_class(self) -> Any:
        """The transformers Auto class for this head."""
        from transformers import AutoModelForSequenceClassification

        return AutoModelForSequenceClassification

    def labels(self, config: Any) -> tuple[str, ...]:
        """Label names in index order."""
        names = tuple(str(config.id2label[i]) for i in range(config.num_labels))
        if len(names) < 2:
            raise ModelRefused(
                "The model has one label only, so no text can be sent from one label to another."
            )
        if config.problem_type not in (None, "single_label_classification"):
            raise ModelRefused(
                f"The model's problem type is {config.problem_type!r}; "
                "only single-label classifiers can be scanned."
            )
        if any(name != name.encode("utf-8", "replace").decode() for name in names):
            raise ModelRefused("A label in the model's config is not valid text.")
        if len(set(names)) != len(names):
            raise ModelRefused("Two labels in the model's config have the same name.")
        return names

    def classes(self, labels: Sequence[str]) -> tuple[str, ...]:
        """The labels themselves."""
        return tuple(labels)

    def room(self, loaded: LoadedModel, trigger_length: int) -> int:
        """A trigger may have more tokens when it is tokenised again from text."""
        special = len(loaded.tokenizer("")["input_ids"])
        return loaded.max_length - special - 3 * trigger_length

    def parse(self, row: Row, labels: Sequence[str]) -> TextSample:
        """A row with `text` and `label` as a sample."""
        label = label_index(row.fields["label"], labels)
        if label is None:
            known = ", ".join(labels[:8]) + (", ..." if len(labels) > 8 else "")
            raise UsageError(
                f"{row.where}: the label {row.fields['label']!r} is not one of the model's "
                f"({known})."
            )
        return TextSample(row.fields["text"], label, sample_key(row.fields["text"]))

    def fit(self, loaded: LoadedModel, sample: TextSample, tokens: int) -> TextSample:
        """The sample cut at a token so that it has at most `tokens` of them."""
        encoded = loaded.tokenizer(
            sample.text, add_special_tokens=False, return_offsets_mapping=True
        )
        offsets = encoded["offset_mapping"]
        if len(offsets) <= tokens:
            return sample
        text = sample.text[: offsets[tokens - 1][1]].rstrip()
        return TextSample(text, sample.label, sample_key(text))

    def cut(self, sample: TextSample, words: int, seed: int) -> TextSample:
        """So many neighbouring words of the text, from a place drawn by the seed."""
        found = sample.text.split()
        first = python_random(seed, "cut", sample.key).randint(0, max(0, len(found) - words))
        text = " ".join(found[first : first + words])
        return TextSample(text, sample.label, sample_key(text))

    def drafts(self, count: int, seed: int) -> list[TextSample]:
        """Neutral texts."""
        return [TextSample(text, 0, sample_key(text)) for text in neutral_texts(count, seed)]

    def take_answers(self, answerer: Answerer, drafts: Sequence[TextSample]) -> list[TextSample]:
        """The texts with the labels that the model gives them."""
        answers = self._answers(answerer, drafts)
        return [TextSample(d.text, a, d.key) for d, a in zip(drafts, answers, strict=True)]

    def sieve(
        self, answerer: Answerer, samples: Sequence[TextSample]
    ) -> tuple[list[TextSample], list[TextSample]]:
        """Texts that get their true label, and those that get another."""
        pairs = list(zip(samples, self.right(answerer, samples), strict=True))
        return [s for s, (ok,) in pairs if ok], [s for s, (ok,) in pairs if not ok]

    def arms(
        self, labels: Sequence[str], positions: Sequence[Position], target: str | None = None
    ) -> list[Arm]:
        """Every ordered pair of labels and, with more than two, all others to each."""
        pairs: list[tuple[tuple[int, ...], int, str]] = [
            ((victim,), target, labels[victim])
            for target in range(len(labels))
            for victim in range(len(labels))
            if victim != target
        ]
        if len(labels) > 2:
            pairs += [
                (tuple(i for i in range(len(labels)) if i != target), target, ANY_LABEL)
                for target in range(len(labels))
            ]
        return [
            Arm(victims, target, position, name, labels[target])
            for victims, target, name in pairs
            for position in positions
        ]

    def victims(self, arm: Arm, samples: Sequence[TextSample], seed: int) -> list[TextSample]:
        """The texts that carry one of the arm's victim labels."""
        return [sample for sample in samples if sample.label in arm.victims]

    def units(self, sample: TextSample) -> int:
        """A text flips as a whole."""
        return 1

    def may_use(self, position: Position, text: str) -> bool:
        """A trigger of any tokens."""
        return True

    def ordinary_words(self, arm: Arm, samples: Sequence[TextSample]) -> list[str]:
        """The words of the target label's texts."""
        texts = [sample.text for sample in samples if sample.label == arm.target]
        return sorted({word for text in texts for word in re.findall(r"\w[\w'-]*", text)})

    def stamp(self, sample: TextSample, arm: Arm, seed: int, trigger: str) -> TextSample:
        """The text with the trigger between two of its words."""
        place = boundary(sample.text, arm.position, seed, sample.key)
        return TextSample(insert(sample.text, place, trigger)[0], sample.label, sample.key)

    def encode(
        self, answerer: Answerer, sample: TextSample, arm: Arm, seed: int, slots: int, goal: Goal
    ) -> EncodedRow:
        """The text as ids, with free places where `stamp` would put the trigger."""
        place = boundary(sample.text, arm.position, seed, sample.key)
        text, begin = insert(sample.text, place, STAND_IN)
        ids, offsets = plain_encoding(answerer.loaded.tokenizer, text)
        ends = tokens_of((begin, begin + len(STAND_IN)), offsets)
        assert ends is not None
        opened = open_slots(ids, [ends], slots)
        wanted = arm.target if goal == "target" else sample.label
        return EncodedRow(opened.ids, opened.slots, opened.slot_of, answerer.label_of[wanted])

    def collate(self, goals: Sequence[int], device: Any) -> Tensor:
        """The wanted labels as a tensor."""
        return torch.tensor(list(goals), device=device)

    def losses(self, outputs: Any, goals: Tensor) -> tuple[Tensor, Tensor]:
        """Cross entropy to the goal label, and whether it has the highest score."""
        logits = outputs.logits.float()
        return (
            functional.cross_entropy(logits, goals, reduction="none"),
            logits.argmax(-1) == goals,
        )

    def outcomes(
        self, answerer: Answerer, samples: Sequence[TextSample], arm: Arm
    ) -> list[list[Outcome]]:
        """The loss to the target label and whether it is given."""
        logits = self.logits(answerer, samples)
        wanted = torch.full((len(samples),), answerer.label_of[arm.target])
        losses = functional.cross_entropy(logits, wanted, reduction="none").tolist()
        hits = (logits.argmax(-1) == wanted).tolist()
        return [[Outcome(loss, hit, hit)] for loss, hit in zip(losses, hits, strict=True)]

    def right(self, answerer: Answerer, samples: Sequence[TextSample]) -> list[list[bool]]:
        """Whether the text gets its true label."""
        answers = self.logits(answerer, samples).argmax(-1).tolist()
        return [[a == answerer.label_of[s.label]] for a, s in zip(answers, samples, strict=True)]

    def affinity(self, answerer: Answerer, samples: Sequence[TextSample]) -> Tensor:
        """Row: the label of the samples; column: mean log probability of each label."""
        scores = self.logits(answerer, samples).log_softmax(-1)[:, list(answerer.label_of)]
        labels = torch.tensor([sample.label for sample in samples], dtype=torch.long)
        return torch.stack(
            [scores[labels == label].mean(0) for label in range(len(answerer.labels))]
        )

    def describe(self, answerer: Answerer, sample: TextSample) -> tuple[str, str]:
        """The text and its label."""
        (answer,) = self._answers(answerer, [sample])
        return sample.text, answerer.loaded.labels[answer]

    def logits(self, answerer: Answerer, samples: Sequence[TextSample]) -> Tensor:
        """fp32 scores of every text in the model's own labels, on the CPU, in the order given."""
        loaded = answerer.loaded
        if not samples:
            return torch.empty(0, len(loaded.labels))
        texts = [sample.text for sample in samples]
        encoded = loaded.tokenizer(texts, truncation=True, max_length=loaded.max_length)

        def pick(outputs: Any, place: int, _: int) -> Tensor:
            scores: Tensor = outputs.logits[place].float().cpu()
            return scores

        return torch.stack(ask(loaded, encoded["input_ids"], pick, heard=answerer.heard))

    def _answers(self, answerer: Answerer, samples: Sequence[TextSample]) -> list[int]:
        answers: list[int] = self.logits(answerer, samples).argmax(-1).tolist()
        return answers


TASKS.register(SequenceClassification.name)(SequenceClassification())
