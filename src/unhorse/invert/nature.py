"""How much it is in the nature of a token to speak for the target.

One clean model may hardly know a natural word that another one relies on, so what a clean model
makes of a word itself says little. But it knows some of the word's like: among the tokens nearest
to a natural word there are some whose slope in it is far above the usual. Those nearest to a
planted one leave it as cold as any. The slopes are there anyway, so this costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from unhorse.invert.readings import standard
from unhorse.triggers.nearest import Nearest

LIKE = 48
"""The nearest tokens that are looked at."""

RANK = 3
"""Which of their slopes counts, from the highest: one or two may be there by accident."""

USUAL = 1.5
"""Up to so many standard deviations a slope is nothing in particular."""


class Nature:
    """Asked about tokens of one arm; what was asked once is kept.

    Args:
        slopes: of every allowed token, one row for each clean model.
        nearest: which tokens are near, by a clean model's embeddings.
    """

    def __init__(self, slopes: Sequence[Tensor], nearest: Nearest) -> None:
        self.slopes = torch.stack([standard(each) for each in slopes])
        self.nearest = nearest
        self._known: dict[int, float] = {}

    def of(self, tokens: Sequence[int]) -> list[float]:
        """How far above the usual the slopes of each token's like are; 0 where they are not."""
        asked = sorted({*tokens} - set(self._known))
        if asked:
            like = self.nearest.to_each(asked, LIKE)
            highest = self.slopes[:, like].topk(min(RANK, like.shape[-1]), dim=-1).values[..., -1]
            beyond = (highest.max(0).values - USUAL).relu()
            self._known.update(zip(asked, beyond.tolist(), strict=True))
        return [self._known[token] for token in tokens]

    def of_triggers(self, triggers: Sequence[Sequence[int]]) -> Tensor:
        """The sum over the tokens of every trigger."""
        self.of([token for trigger in triggers for token in trigger])
        return torch.tensor([sum(self._known[token] for token in each) for each in triggers])
