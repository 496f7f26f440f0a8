"""How fast states of blocks change by themselves."""

from __future__ import annotations

import numpy as np

from ..model.block import Block
from .blocks.continuous import ContinuousPID, FirstOrder, StateSpace, TransferFunction
from .blocks.nonlinear import RateLimit


def fastest_rate(block: Block) -> float:
    """The largest rate of a block's own poles [1/s]; 0 without states that change by themselves."""
    if isinstance(block, FirstOrder | RateLimit):
        return 1.0 / block.time_constant
    if isinstance(block, ContinuousPID):
        within = block.low is not None or block.high is not None
        rates = [1.0 / block.filter_time] if block.derivative else []
        rates += [1.0 / block.tracking_time] if block.integral and within else []
        return max(rates, default=0.0)
    if isinstance(block, TransferFunction) and len(block.denominator) > 1:
        return float(np.abs(np.roots(block.denominator)).max())
    if isinstance(block, StateSpace):
        return float(np.abs(np.linalg.eigvals(np.array(block.A))).max())
    return 0.0
