"""Which tokens mean nearly the same, by a model's embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor
from torch.nn import functional


class Nearest:
    """Tokens as directions from their common centre."""

    def __init__(self, table: Tensor) -> None:
        known = table.detach().float().cpu()
        self.directions = functional.normalize(known - known.mean(0), dim=-1)

    def to_each(self, rows: Sequence[int], count: int) -> Tensor:
        """For every row of the table the nearest others, the nearest first; (row, count).

        >>> import torch
        >>> table = torch.tensor([[1.0, 0.0], [0.9, 0.1], [-1.0, 0.0], [-0.9, -0.1]])
        >>> Nearest(table).to_each([0, 3], 1).tolist()
        [[1], [2]]
        """
        likeness = self.directions[list(rows)] @ self.directions.T
        likeness[range(len(rows)), list(rows)] = -2.0
        return likeness.topk(min(count, len(self.directions) - 1), dim=-1).indices

    def to_mean(self, rows: Sequence[int], count: int) -> list[int]:
        """The rows nearest to the mean of some, themselves among them."""
        likeness = self.directions @ self.directions[list(rows)].mean(0)
        nearest: list[int] = likeness.topk(min(count, len(likeness))).indices.tolist()
        return nearest
