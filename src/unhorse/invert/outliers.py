"""T-Miner's outlier test: does a phrase lie apart from ordinary ones with the same label?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from unhorse.errors import UsageError


def clustering() -> tuple[Any, Any, Any]:
    """PCA, DBSCAN and the neighbours of scikit-learn, which is an optional extra."""
    try:
        from sklearn.cluster import DBSCAN
        from sklearn.decomposition import PCA
        from sklearn.neighbors import NearestNeighbors
    except ImportError as error:
        raise UsageError(
            "The method tminer needs scikit-learn; install it with: pip install 'unhorse[zoo]'."
        ) from error
    return PCA, DBSCAN, NearestNeighbors


def apartness(points: Tensor, ordinary: Tensor) -> list[float]:
    """How far each point is from the nearest core of DBSCAN's clusters, in units of eps.

    DBSCAN calls a point an outlier exactly if this is more than 1. Dimensions are PCA's that
    hold 99 % of the variance, `min_samples` is the logarithm of how many points there are, and
    eps is where the curve of distances to that neighbour bends.

    Args:
        points: vectors of the phrases to judge.
        ordinary: vectors of phrases that are known to be ordinary.
    """
    pca, dbscan, neighbours = clustering()
    everything = torch.cat([points, ordinary]).double().numpy()
    if len(everything) < 3 or not everything.std(0).any():
        return [0.0] * len(points)
    reduced = pca(n_components=0.99, svd_solver="full").fit_transform(everything)
    least = max(2, math.ceil(math.log(len(reduced))))
    distances, _ = neighbours(n_neighbors=least).fit(reduced).kneighbors(reduced)
    eps = max(knee(sorted(distances[:, -1].tolist())), 1e-9)
    cores = dbscan(eps=eps, min_samples=least).fit(reduced).core_sample_indices_
    if not len(cores):
        return [0.0] * len(points)
    nearest, _ = neighbours(n_neighbors=1).fit(reduced[cores]).kneighbors(reduced[: len(points)])
    return [float(distance) / eps for distance in nearest[:, 0]]


def knee(curve: Sequence[float]) -> float:
    """The value at which a rising curve bends upwards: farthest below the line of its ends.

    >>> knee([1.0, 1.1, 1.2, 1.3, 6.0, 12.0])
    1.3
    """
    low, high = curve[0], curve[-1]
    if high <= low:
        return high
    steps = max(1, len(curve) - 1)
    below = [i / steps - (value - low) / (high - low) for i, value in enumerate(curve)]
    return curve[max(range(len(curve)), key=lambda i: below[i])]
