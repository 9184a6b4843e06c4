"""Sentences of words through the subject, outside of its samples; every pass is counted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import torch
from torch import Tensor

from unhorse.invert.engine import ModelLoss
from unhorse.invert.latent import Latents
from unhorse.tasks.base import EncodedRow


class Reader:
    """A classifier that is asked about whole sentences.

    Args:
        subject: the model with its samples, which show what stands around a text.
        words: the token of every word, as indices into the allowed ones.
    """

    def __init__(self, subject: ModelLoss, words: Tensor) -> None:
        self.subject = subject
        self.device = subject.table.device
        self.table = subject.table[words.to(self.device)]
        self.tokens = subject.allowed[words].to(self.device)
        rows = [row for rows in subject.rows for row in rows]
        self.before, self.behind = frame(rows, set(subject.allowed.tolist()))

    def width(self, words: int) -> int:
        """The tokens that a sentence takes."""
        return len(self.before) + words + len(self.behind)

    def scores(self, sentences: Tensor) -> Tensor:
        """Logits of sentences of word numbers, without gradients."""
        return self._ask(sentences)[0]

    def latents(self, sentences: Tensor) -> Tensor:
        """The vectors that the logits are made from."""
        return self._ask(sentences)[1]

    def soft_scores(self, alpha: Tensor) -> Tensor:
        """Logits of mixtures of words shaped (sentence, place, word), for a backward pass."""
        self.subject.count.check()
        count, places, _ = alpha.shape
        # What stands at the places does not matter, as long as it is no padding.
        ids = self._framed(torch.zeros((count, places), dtype=torch.long))
        rows = torch.arange(count, device=self.device).repeat_interleave(places)
        columns = len(self.before) + torch.arange(places, device=self.device).repeat(count)
        vectors = (alpha @ self.table).flatten(0, 1)
        with self.subject.adapter.stamped(rows, columns, vectors):
            logits = self._logits(ids)
        self.subject.count.backward_tokens += ids.numel()
        return logits

    def _ask(self, sentences: Tensor) -> tuple[Tensor, Tensor]:
        at_once = max(1, self.subject.most_tokens // self.width(sentences.shape[1]))
        scores = []
        latents = Latents(self.subject.loaded)
        with torch.no_grad(), latents.caught() as caught:
            for part in torch.split(sentences, at_once):
                self.subject.count.check()
                scores.append(self._logits(self._framed(part)))
        return torch.cat(scores).cpu(), torch.cat(caught).cpu()

    def _framed(self, sentences: Tensor) -> Tensor:
        before = torch.tensor(self.before, dtype=torch.long, device=self.device)
        behind = torch.tensor(self.behind, dtype=torch.long, device=self.device)
        return torch.cat(
            [
                before.expand(len(sentences), -1),
                self.tokens[sentences.to(self.device)],
                behind.expand(len(sentences), -1),
            ],
            1,
        )

    def _logits(self, ids: Tensor) -> Tensor:
        outputs = self.subject.loaded.model(input_ids=ids, attention_mask=torch.ones_like(ids))
        self.subject.count.forward_tokens += ids.numel()
        logits: Tensor = outputs.logits.float()
        return logits


def frame(rows: Sequence[EncodedRow], allowed: set[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The special tokens that stand before and behind every text.

    >>> rows = [EncodedRow((1, 7, 7, 8, 2), (1, 2), (0, 1), 0)]
    >>> frame(rows, {7, 8, 9})
    ((1,), (2,))
    """

    def special(ids: Sequence[int]) -> tuple[int, ...]:
        return tuple(takewhile(lambda token: token not in allowed, ids))

    before = min((special(row.ids) for row in rows), key=len)
    behind = min((special(row.ids[::-1]) for row in rows), key=len)
    return before, behind[::-1]
