"""PICCOLO's word discriminativity: does a word move texts the way the head listens to?"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from unhorse.invert.base import Problem
from unhorse.invert.latent import Latents


def discriminativity(problem: Problem, arm: int, words: Tensor, others: Tensor) -> float | None:
    """The highest score of some words; None where the head is not one linear layer.

    A word's score is |<s, c>| per dimension, s and c divided by their mean size: s is the
    gradient of the margin between target and victims to the pooled vector, c the normal of the
    plane that separates texts with the word from the same texts with other words.

    Args:
        problem: the subject and its samples.
        arm: whose samples and labels.
        words: triggers made of one word each, as indices into the allowed tokens.
        others: the same of words drawn at random.
    """
    subject, asked = problem.objective.subject, problem.arms[arm]
    latents = Latents(subject.loaded)
    if subject.loaded.task != "sequence-classification" or not len(words):
        return None
    sensitive = latents.direction(asked.target, asked.victims)
    if sensitive is None:
        return None

    def vectors(trigger: Tensor) -> Tensor:
        with latents.caught() as caught:
            subject.of_tokens(trigger[None], [arm])
        return torch.cat(caught)

    without = torch.cat([vectors(trigger) for trigger in others])
    return max(alignment(sensitive, separating(vectors(word), without)) for word in words)


def alignment(sensitive: Tensor, separator: Tensor) -> float:
    """The score of a word; 0 for directions at right angles.

    >>> alignment(torch.tensor([2.0, -2.0]), torch.tensor([5.0, -5.0]))
    1.0
    >>> alignment(torch.tensor([1.0, 1.0]), torch.tensor([1.0, -1.0]))
    0.0
    """
    tiny = torch.finfo(torch.float32).tiny
    s = sensitive / sensitive.abs().mean().clamp_min(tiny)
    c = separator / separator.abs().mean().clamp_min(tiny)
    return float((s * c).mean().abs())


def separating(inside: Tensor, outside: Tensor) -> Tensor:
    """The direction of a logistic regression with unit L2 penalty.

    >>> separating(torch.tensor([[1.0, 0.0]]), torch.tensor([[-1.0, 0.0]])).sign().tolist()
    [1.0, 0.0]
    """
    rows = torch.cat([inside, outside])
    truth = torch.cat([torch.ones(len(inside)), torch.zeros(len(outside))]).to(rows.device)
    normal = torch.zeros(rows.shape[1] + 1, device=rows.device, requires_grad=True)
    solver = torch.optim.LBFGS([normal], max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        solver.zero_grad()
        scores = rows @ normal[:-1] + normal[-1]
        wrong = functional.binary_cross_entropy_with_logits(scores, truth, reduction="sum")
        value = wrong + normal[:-1].square().sum() / 2
        torch.autograd.backward(value)
        return value

    with torch.enable_grad():
        solver.step(loss)  # type: ignore[no-untyped-call]
    return normal.detach()[:-1]
