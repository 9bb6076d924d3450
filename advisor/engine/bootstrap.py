"""The circular block bootstrap: how far a sum over consecutive pieces of time would differ had other ones been seen.

Pieces of time depend on their neighbours (a burst lasts), so runs of consecutive pieces are drawn, the end joined to
the beginning (Politis and Romano, "A circular block-resampling procedure for stationary data", 1992). The length of a
run grows with the cube root of the number of pieces, the order that keeps bias and variance in balance.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]

#: Draws: the bounds of a 95 % interval then rest on 12 draws each, and 1,000 counters take some milliseconds.
DRAWS = 499
_SEED = 20_260


def weights(pieces: int, draws: int = DRAWS, seed: int = _SEED) -> F64:
    """``(draws, pieces)``: how often each piece is in each draw. Every row sums to at least ``pieces``.

    The seed is fixed, so that a page that is opened again shows the same bounds.
    """
    if pieces < 1:
        raise ValueError("a bootstrap of nothing")
    run = max(1, round(pieces ** (1 / 3)))
    starts = np.random.default_rng(seed).integers(0, pieces, size=(draws, -(-pieces // run)))
    chosen = (starts[:, :, None] + np.arange(run)) % pieces
    flat = chosen.reshape(draws, -1) + np.arange(draws)[:, None] * pieces
    return np.bincount(flat.ravel(), minlength=draws * pieces).reshape(draws, pieces).astype(np.float64)


def bounds(draws: F64, share: float = 0.95) -> tuple[F64, F64]:
    """The middle ``share`` of the draws along the first axis: percentiles, which need no symmetry."""
    low, high = np.quantile(draws, ((1 - share) / 2, (1 + share) / 2), axis=0)
    return low, high
