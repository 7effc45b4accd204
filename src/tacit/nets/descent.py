"""Gradient descent steps inside kernels, for networks whose weights are one array (`sparse_mlp.py`)."""

from __future__ import annotations

import numpy as np

from tacit.compiled import inner

OPTIMIZERS = ("sgd", "momentum", "adam")
SGD, MOMENTUM, ADAM = range(3)
"""Positions in `OPTIMIZERS`."""
_MOMENTUM = np.float32(0.9)
_BETA1, _BETA2, _TINY = np.float32(0.9), np.float32(0.999), np.float32(1e-8)


@inner(error_model="numpy")
def descend(optimizer, params, gradient, moments, rate, updates):  # type: ignore[no-untyped-def]
    """Updates `params` by one step as torch defines it, and sets the gradient to zero.

    Args:
      optimizer: `SGD`, `MOMENTUM` or `ADAM` (Kingma & Ba 2015).
      params: `[P]`.
      gradient: `[P]`, of the loss.
      moments: `[2, P]` running means; plain descent does not use them.
      rate: The learning rate.
      updates: The number of steps before this one.
    """
    rate = np.float32(rate)
    if optimizer == SGD:
        for i in range(len(params)):
            params[i] -= rate * gradient[i]
    elif optimizer == MOMENTUM:
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


@inner()
def clip_norm(gradient, most):  # type: ignore[no-untyped-def]
    """Scales a gradient `[P]` down to the Euclidean norm `most` if its norm is larger."""
    squares = np.float32(0.0)
    for i in range(len(gradient)):
        squares += gradient[i] * gradient[i]
    if squares > most * most:
        factor = np.float32(most / np.sqrt(squares))
        for i in range(len(gradient)):
            gradient[i] *= factor
