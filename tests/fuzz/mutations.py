"""Inputs made from valid ones: changed bytes, swapped words, distorted JSON, and tensor headers that lie."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from random import Random
from typing import Any

ODD_WORDS = (
    b"",
    b"0",
    b"-1",
    b"1e999",
    b"nan",
    b"-inf",
    b"Infinity",
    b"9" * 20,
    b"9" * 400,
    b"9" * 5000,
    b"0.1",
    b"1e-320",
    b"\0",
    b"\n",
    "\u0663".encode(),
    "\u00b2".encode(),
    b"\xff\xfe",
    "\u202e".encode(),
    b"\xed\xa0\x80",
    b"../",
    b"/",
    b"/dev/zero",
    b"~nobody/x",
    b"a" * 300,
    b"(",
    b")",
    b"((",
    b"=",
    b",",
    b":",
    b";",
    b"|",
    b"%",
    b"true",
    b"None",
    b"null",
    b"{}",
    b"[]",
    b'"',
    b"'",
    b"[" * 3000,
)
"""Words that parsers stumble over."""
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**6,
    2**31,
    2**63,
    10**400,
    -(10**20),
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "0",
    "nan",
    "../x",
    "/etc/passwd",
    "a" * 5000,
    "\0",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    {"": {}},
    [0] * 300,
)
"""Values to put where another kind of value is expected."""
_TOKEN = re.compile(rb"\w+|\W")
_NUMBER = re.compile(rb"\d+")
_LENGTH = 8
"""Bytes that store the length of a tensor header."""


def mutate(data: bytes, seeds: Sequence[bytes], random: Random) -> bytes:
    """Returns an input made from a valid one by a few changes.

    Args:
      data: The valid input.
      seeds: Other valid inputs, to take parts from.
      random: Decides what changes.
    """
    for _ in range(random.choice((1, 1, 1, 1, 1, 1, 2, 2, 3, 6))):
        if _is_tensors(data) and random.random() < 0.6:
            data = _mutate_header(data, random)
        elif data[:1] in (b"{", b"[") and random.random() < 0.7:
            data = _mutate_json(data, random)
        else:
            data = random.choice(_CHANGES)(data, seeds, random)
    return data


def _flip(data: bytes, seeds: Sequence[bytes], random: Random) -> bytes:
    if not data:
        return data
    place = random.randrange(len(data))
    return data[:place] + bytes([random.randrange(256)]) + data[place + 1 :]


def _cut(data: bytes, seeds: Sequence[bytes], random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _delete(data: bytes, seeds: Sequence[bytes], random: Random) -> bytes:
    start, end = _span(data, random)
    return data[:start] + data[end:]


def _repeat(data: bytes, seeds: Sequence[bytes], random: Random) -> bytes:
    start, end = _span(data, random)
    times = random.choice((1, 2, 5, 100)) if end - start < 100 else 1
    return data[:end] + data[start:end] * times + data[end:]


def _insert_odd(data: bytes, seeds: Sequence[bytes], random: Random) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.choice(ODD_WORDS) + data[place:]


def _replace_word(data: bytes, seeds: Sequence[bytes], random: Random) -> bytes:
    """Returns the input with one word replaced by an odd one, or by a word of another valid input."""
    if len(data) > 100_000:
        return _flip(data, seeds, random)
    words = _TOKEN.findall(data)
    if not words:
        return random.choice(ODD_WORDS)
    others = _TOKEN.findall(random.choice(seeds)[:5000])
    words[random.randrange(len(words))] = random.choice(others if others and random.random() < 0.6 else ODD_WORDS)
    return b"".join(words)


def _replace_number(data: bytes, seeds: Sequence[bytes], random: Random) -> bytes:
    numbers = list(_NUMBER.finditer(data[:100_000]))
    if not numbers:
        return _replace_word(data, seeds, random)
    number = random.choice(numbers)
    new = random.choice(
        (b"0", b"1", b"-1", b"7", b"99", b"1e9", b"0.5", b"nan", b"%d" % (random.getrandbits(random.randrange(1, 80))))
    )
    return data[: number.start()] + new + data[number.end() :]


def _splice(data: bytes, seeds: Sequence[bytes], random: Random) -> bytes:
    other = random.choice(seeds)
    return data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1) :]


_CHANGES = (_flip, _cut, _delete, _repeat, _insert_odd, _replace_word, _replace_word, _replace_number, _splice)


def _span(data: bytes, random: Random) -> tuple[int, int]:
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + random.choice((1, 1, 2, 4, 16, 64)))


def _mutate_json(data: bytes, random: Random) -> bytes:
    """Returns lines of JSON with one value in one of them changed."""
    lines = data.split(b"\n")
    number = random.randrange(len(lines))
    try:
        value = json.loads(lines[number])
    except (ValueError, RecursionError):
        try:
            lines, number, value = [data], 0, json.loads(data)
        except (ValueError, RecursionError):
            return _flip(data, (), random)
    lines[number] = json.dumps(_bent(value, random)).encode()
    return b"\n".join(lines)


def _bent(value: Any, random: Random) -> Any:
    """Returns a JSON value with one part changed, at any depth."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        key = random.choice(list(value))
        rest = {name: part for name, part in value.items() if name != key}
        draw = random.random()
        if draw < 0.1:
            return rest
        if draw < 0.2:
            return {**rest, random.choice((key + "x", "", "../x", "\0")): value[key]}
        return {**value, key: _bent(value[key], random)}
    if isinstance(value, list) and value and random.random() < 0.85:
        place, draw = random.randrange(len(value)), random.random()
        if draw < 0.15:
            return value[:place] + value[place + 1 :]
        if draw < 0.25:
            return [*value, value[place]]
        return [*value[:place], _bent(value[place], random), *value[place + 1 :]]
    if isinstance(value, str) and value[:1] == "{" and random.random() < 0.8:  # JSON inside JSON, as in headers
        try:
            return json.dumps(_bent(json.loads(value), random))
        except (ValueError, RecursionError):
            return value[:-1]
    if isinstance(value, str) and random.random() < 0.1:
        return value + random.choice(("\ud800", "\0", "\n", " ", "/../x", "9" * 5000))
    if isinstance(value, str) and random.random() < 0.5:
        return mutate(value.encode("utf-8", "replace"), (b"kuhn_poker", b"0"), random).decode("utf-8", "replace")
    if isinstance(value, int | float) and random.random() < 0.5:
        return random.choice(
            (2**63, 10**400, -value, value + 1, value * 1000, str(value), [value], value / 3 if abs(value) < 1e300 else 0)
        )
    return random.choice(ODD_VALUES)


def _is_tensors(data: bytes) -> bool:
    return data[_LENGTH : _LENGTH + 1] == b"{" and int.from_bytes(data[:_LENGTH], "little") <= len(data)


def _mutate_header(data: bytes, random: Random) -> bytes:
    """Returns a tensor file with a changed header, whose stated length is mostly still right."""
    end = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
    header = _mutate_json(data[_LENGTH:end], random)
    length = len(header) if random.random() < 0.95 else random.getrandbits(random.randrange(1, 64))
    return length.to_bytes(_LENGTH, "little") + header + data[end:]
