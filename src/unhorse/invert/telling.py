"""A Problem -> the tokens that move its clean models most, by nature.

Words of a sentiment, of a place or of a person: what they do is learnt from honest data. Slopes of
clean models alone tell them, so that no token is among them because of what was planted.
"""

from __future__ import annotations

import torch
from torch import Tensor

from unhorse.invert.base import Problem
from unhorse.invert.readings import slopes_of

CARRIERS = 6
"""Samples of an arm that slopes are taken on."""

PLAIN_TOKENS = 32
"""Tokens that stand in the slot in turn."""

ONE_IN = 50
"""No more than one token in so many is telling in an arm."""

ARMS = 8
"""Of more arms than this, so many are asked, evenly spread."""


def telling_tokens(problem: Problem, each: int = 300) -> list[int]:
    """The ids of the tokens with the steepest slopes, up or down, in every arm's clean models.

    Args:
        problem: arms with clean models in their objective.
        each: how many of an arm and a clean model, of a small vocabulary fewer; all arms
            together give more.
    """
    each = min(each, len(problem.allowed) // ONE_IN)
    assert problem.pose is not None
    arms = _evenly(len(problem.arms), ARMS)
    plain = _evenly(len(problem.allowed), PLAIN_TOKENS).unsqueeze(-1)
    found: set[int] = set()
    for arm in arms.tolist():
        victims = problem.victims[arm][:CARRIERS]
        objective = problem.pose([arm] * len(victims), [[victim] for victim in victims], 1)
        for reference in objective.references:
            steep = slopes_of(reference, plain).squeeze(-1)
            steep = (steep - steep.mean()).abs()
            found.update(steep.topk(each).indices.tolist())
    return problem.allowed[sorted(found)].tolist()


def _evenly(length: int, most: int) -> Tensor:
    """So many of some numbers, from the first to the last.

    >>> _evenly(9, 3).tolist(), _evenly(2, 5).tolist()
    ([0, 4, 8], [0, 1])
    """
    return torch.linspace(0, length - 1, min(most, length)).long()
