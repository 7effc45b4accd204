"""Steps of stochastic gradient descent: plain, with momentum, or Adam (Kingma & Ba 2015), as torch defines them."""

from __future__ import annotations

import numpy as np

from tacit.compiled import compiled

SGD, MOMENTUM, ADAM = range(3)
"""Positions in `OPTIMIZERS` of `nfsp/config.py`."""
_MOMENTUM = np.float32(0.9)
_BETA1, _BETA2, _TINY = np.float32(0.9), np.float32(0.999), np.float32(1e-8)


@compiled(error_model="numpy")
def descend(kind, params, gradient, moments, rate, updates):  # type: ignore[no-untyped-def]
    """Changes `params` `[P]` by a step, and clears the gradient.

    Args:
      kind: `SGD`, `MOMENTUM` or `ADAM`.
      params: `[P]`.
      gradient: `[P]` of the loss.
      moments: `[2, P]` running means; plain descent leaves them alone.
      rate: learning rate.
      updates: steps made before this one.
    """
    rate = np.float32(rate)
    if kind == SGD:
        for i in range(len(params)):
            params[i] -= rate * gradient[i]
    elif kind == MOMENTUM:
        first = moments[0]
        for i in range(len(params)):
            first[i] = _MOMENTUM * first[i] + gradient[i]
            params[i] -= rate * first[i]
    else:
        first, second = moments[0], moments[1]
        step = np.float32(rate / (1.0 - 0.9 ** (updates + 1)))
        scale = np.float32(1.0 / (1.0 - 0.999 ** (updates + 1)))
        one = np.float32(1.0)
        for i in range(len(params)):
            first[i] = _BETA1 * first[i] + (one - _BETA1) * gradient[i]
            second[i] = _BETA2 * second[i] + (one - _BETA2) * gradient[i] * gradient[i]
            params[i] -= step * first[i] / (np.sqrt(scale * second[i]) + _TINY)
    gradient[:] = 0.0
