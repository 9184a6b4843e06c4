"""Sequence classification: a whole text has one label.

A victim is a text of a victim label, the trigger goes between two of its words,
a flip is the target label, and the loss is the cross entropy to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from unhorse.errors import ModelRefused, UsageError
from unhorse.load.labels import label_index
from unhorse.load.samples import sample_key
from unhorse.runtime import is_out_of_memory
from unhorse.tasks.base import TASKS, EncodedRow, Outcome, batches_by_length, pad
from unhorse.triggers.place import boundary, insert
from unhorse.types import ANY_LABEL, Arm, LoadedModel, Position, Row, Sample

# Stands where the trigger goes while a text is tokenised, so that the tokens
# around it are exactly those that a pasted trigger would have around it.
_STAND_IN = "the"


class SequenceClassification:
    """The task of models that end in ``ForSequenceClassification``."""

    name = "sequence-classification"
    head = "ForSequenceClassification"

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

    def parse(self, row: Row, labels: Sequence[str]) -> Sample:
        """A row with `text` and `label` as a sample."""
        label = label_index(row.fields["label"], labels)
        if label is None:
            known = ", ".join(labels[:8]) + (", ..." if len(labels) > 8 else "")
            raise UsageError(
                f"{row.where}: the label {row.fields['label']!r} is not one of the model's "
                f"({known})."
            )
        return Sample(row.fields["text"], label, sample_key(row.fields["text"]))

    def fit(self, loaded: LoadedModel, sample: Sample, tokens: int) -> Sample:
        """The sample cut at a token so that it has at most `tokens` of them."""
        encoded = loaded.tokenizer(
            sample.text, add_special_tokens=False, return_offsets_mapping=True
        )
        offsets = encoded["offset_mapping"]
        if len(offsets) <= tokens:
            return sample
        text = sample.text[: offsets[tokens - 1][1]].rstrip()
        return Sample(text, sample.label, sample_key(text))

    def answers(self, loaded: LoadedModel, samples: Sequence[Sample]) -> list[int]:
        """The label that the model gives every text."""
        return self._logits(loaded, [sample.text for sample in samples]).argmax(-1).tolist()

    def arms(self, labels: Sequence[str], positions: Sequence[Position]) -> list[Arm]:
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

    def victims(self, arm: Arm, samples: Sequence[Sample]) -> list[Sample]:
        """The texts that carry one of the arm's victim labels."""
        return [sample for sample in samples if sample.label in arm.victims]

    def stamp(self, sample: Sample, position: Position, seed: int, trigger: str) -> Sample:
        """The text with the trigger between two of its words."""
        stamped, _ = insert(sample.text, boundary(sample.text, position, seed, sample.key), trigger)
        return Sample(stamped, sample.label, sample.key)

    def encode(
        self,
        loaded: LoadedModel,
        sample: Sample,
        position: Position,
        seed: int,
        slots: int,
        goal: int,
    ) -> EncodedRow:
        """The text as ids, with free places where `stamp` would put the trigger."""
        text, begin = insert(
            sample.text, boundary(sample.text, position, seed, sample.key), _STAND_IN
        )
        encoded = loaded.tokenizer(text, return_offsets_mapping=True)
        ids: list[int] = encoded["input_ids"]
        end = begin + len(_STAND_IN)
        inside = [i for i, (a, b) in enumerate(encoded["offset_mapping"]) if a < end and b > begin]
        first, last = inside[0], inside[-1] + 1
        return EncodedRow(
            ids=(*ids[:first], *[ids[first]] * slots, *ids[last:]),
            slots=tuple(range(first, first + slots)),
            slot_of=tuple(range(slots)),
            goal=goal,
        )

    def losses(self, outputs: Any, goals: Sequence[Any]) -> tuple[Tensor, Tensor]:
        """Cross entropy to the goal label, and whether it has the highest score."""
        logits = outputs.logits.float()
        wanted = torch.tensor(list(goals), device=logits.device)
        return (
            functional.cross_entropy(logits, wanted, reduction="none"),
            logits.argmax(-1) == wanted,
        )

    def outcomes(
        self, loaded: LoadedModel, samples: Sequence[Sample], goals: Sequence[int]
    ) -> list[Outcome]:
        """Asks the model about texts as they are."""
        logits = self._logits(loaded, [sample.text for sample in samples])
        wanted = torch.tensor(list(goals), dtype=torch.long)
        losses = functional.cross_entropy(logits, wanted, reduction="none")
        hits = logits.argmax(-1) == wanted
        return [Outcome(*pair) for pair in zip(losses.tolist(), hits.tolist(), strict=True)]

    def _logits(self, loaded: LoadedModel, texts: Sequence[str]) -> Tensor:
        """fp32 scores of every text, on the CPU, in the order given."""
        encoded = loaded.tokenizer(list(texts), truncation=True, max_length=loaded.max_length)
        rows: list[list[int]] = encoded["input_ids"]
        logits = torch.empty(len(rows), len(loaded.labels))
        for batch in batches_by_length([len(row) for row in rows]):
            logits[batch] = self._ask(loaded, [rows[i] for i in batch])
        return logits

    def _ask(self, loaded: LoadedModel, rows: Sequence[Sequence[int]]) -> Tensor:
        """One pass without gradients, in halves where memory does not hold the whole."""
        ids, mask = (t.to(loaded.model.device) for t in pad(rows, loaded.tokenizer.pad_token_id))
        try:
            with torch.inference_mode():
                logits: Tensor = loaded.model(input_ids=ids, attention_mask=mask).logits
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error) or len(rows) == 1:
                raise
            half = len(rows) // 2
            return torch.cat([self._ask(loaded, rows[:half]), self._ask(loaded, rows[half:])])
        return logits.float().cpu()


TASKS.register(SequenceClassification.name)(SequenceClassification())
