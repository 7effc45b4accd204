"""Encoders: a network's view of a public state, as the input of its first hidden layer.

Every encoder is a table with a row for each class of public states, so forward passes look up rows for any encoder. A class may
learn a row of its own, or have a row made of features that it shares with other classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

SPREAD = 0.5
"""The standard deviation of an encoder's outputs at initialisation."""


class PublicEncoder(nn.Module, ABC):
    """Maps classes of public states to `width` numbers, a linear function of some features."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    @abstractmethod
    def table(self) -> Tensor:
        """Returns `[C, width]` the encodings of all classes."""

    @abstractmethod
    def initialise(self) -> None:
        """Draws new weights."""

    @abstractmethod
    def forward(self, public_class: Tensor) -> Tensor:
        """Returns `[B, width]` the encodings of classes `[B]`."""


class ClassEncoder(PublicEncoder):
    """An embedding: every class has weights of its own."""

    def __init__(self, num_classes: int, width: int = 256) -> None:
        super().__init__(width)
        self.weight = nn.Parameter(nn.init.normal_(torch.empty(num_classes, width)))

    def table(self) -> Tensor:
        return self.weight

    def initialise(self) -> None:
        nn.init.normal_(self.weight, std=SPREAD)

    def forward(self, public_class: Tensor) -> Tensor:
        return functional.embedding(public_class, self.weight)


class FeatureEncoder(PublicEncoder):
    """A linear layer over features of the classes, so that classes that look alike share what is learnt.

    Args:
      features: `[C, F]`; they come from the game and are not saved with the weights.
      width: the number of outputs.
    """

    features: Tensor

    def __init__(self, features: Tensor, width: int = 256) -> None:
        super().__init__(width)
        self.register_buffer("features", features, persistent=False)
        self.weight = nn.Parameter(torch.empty(features.shape[1], width))
        self.initialise()

    def table(self) -> Tensor:
        return self.features @ self.weight

    def initialise(self) -> None:
        size = float(self.features.square().sum(1).mean())
        nn.init.normal_(self.weight, std=SPREAD / size**0.5)

    def forward(self, public_class: Tensor) -> Tensor:
        return self.features[public_class] @ self.weight


def observation_features(actors: Sequence[int], observations: Sequence[Sequence[str]]) -> Tensor:
    """Returns `[C, F]` one-hot features of public states: who acts, and each public observation by how recent it is.

    No two rows are equal: public states that these features do not tell apart get features of their own.

    Args:
      actors: `[C]` who acts.
      observations: `[C]` the public observations, in order.
    """
    seen: list[list[object]] = []
    for actor, words in zip(actors, observations, strict=True):
        seen.append([("actor", actor), *((age, word) for age, word in enumerate(reversed(words)))])
    known: dict[tuple[object, ...], int] = {}
    for row, names in enumerate(seen):
        if known.setdefault(tuple(names), row) != row:
            names.append(("twin", row))
    column: dict[object, int] = {}
    index = [[column.setdefault(name, len(column)) for name in names] for names in seen]
    features = torch.zeros(len(seen), len(column))
    for row, columns in enumerate(index):
        features[row, columns] = 1.0
    return features


def game_features(rows: Sequence[Sequence[float]]) -> Tensor:
    """Returns `[C, F]` features provided by a game (`Game.public_features`), plus one for each row that repeats another.

    Args:
      rows: `[C]` the features of each public state.
    """
    known: dict[tuple[float, ...], int] = {}
    twins = [row for row, features in enumerate(rows) if known.setdefault(tuple(features), row) != row]
    features = torch.cat([torch.tensor(rows, dtype=torch.float32), torch.zeros(len(rows), len(twins))], dim=1)
    features[twins, len(rows[0]) + torch.arange(len(twins))] = 1.0
    return features
