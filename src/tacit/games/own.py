"""Users' own parts by name, `FILE.py:CLASS(key=value,...)`: games, agents, leaf evaluators and networks.

A file is imported as if Python ran it as a script: it can import modules beside it. It is imported only once, however many
names refer to it, and again after a change.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from difflib import get_close_matches
from inspect import Parameter, signature
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints
from zlib import crc32

from tacit.errors import TacitError

_PREFIX = "tacit_own_"
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
"""Descriptions of the types a parameter may have."""
_stamps: dict[str, tuple[int, int]] = {}
"""The change time and size of each module's file when it was imported."""
_folders: list[Path] = []
"""The folders of all imported files, the latest first."""
_LIBRARIES = (Path(__file__).parents[1], Path(sysconfig.get_paths()["stdlib"]))


@dataclass(frozen=True)
class OwnName:
    """The name of something in a user's own file.

    Attributes:
      path: The file's path, as written.
      class_name: The class or function in the file.
      arguments: The text in parentheses.
    """

    path: str
    class_name: str
    arguments: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.class_name}" + (f"({self.arguments})" if self.arguments else "")

    def found_near(self, place: str | Path) -> OwnName:
        """Returns the name with a path that exists: its own, or one found near `place`.

        A project may be moved or copied as a whole. So a missing file is looked for beside `place` and in the folders above
        it, under every ending of its old path.

        Raises:
          TacitError: the file is in none of these places.
        """
        old = Path(self.path)
        if os.path.isfile(old):
            return self
        for folder in Path(place).resolve().parents:
            for parts in range(1, len(old.parts)):
                moved = folder.joinpath(*old.parts[-parts:])
                if os.path.isfile(moved):
                    return OwnName(str(moved), self.class_name, self.arguments)
        raise TacitError(f"{self.path} is no longer there, nor near {place}")

    def absolute(self) -> OwnName:
        """Returns the name with an absolute path, so that it means the same from any folder."""
        return OwnName(str(Path(os.path.expanduser(self.path)).resolve()), self.class_name, self.arguments)


def parse_own(text: str) -> OwnName | None:
    """Returns the parts of `FILE.py:CLASS(...)`, or None if `text` is something else."""
    match = re.fullmatch(r"\s*(.+\.py):(\w+)\s*(?:\((.*)\))?\s*", text)
    return None if match is None else OwnName(match[1], match[2], match[3] or "")


def source_of(part_class: type[Any]) -> OwnName | None:
    """Returns the name that loads a class again, with an absolute path; None for our own classes and those not in a file."""
    module = sys.modules.get(part_class.__module__)
    path = getattr(module, "__file__", None)
    ours = part_class.__module__.partition(".")[0] == __name__.partition(".")[0]
    if ours or not path or not path.endswith(".py") or not hasattr(module, part_class.__qualname__):
        return None
    return OwnName(path, part_class.__qualname__).absolute()


def load_own(path: str, name: str, kind: str = "class") -> Any:
    """Returns what a Python file defines under a name; error lines call it a `kind`.

    Raises:
      TacitError: there is no such file or name, or importing the file failed; the message names the line.
    """
    file = Path(os.path.expanduser(path))
    if not os.path.isfile(file):  # Path.is_file raises where a name is too long
        raise TacitError(f"no Python file at {path}")
    module = _imported(file.resolve(), path)
    if not hasattr(module, name):
        defined = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
        close = get_close_matches(name, defined, n=1)
        raise TacitError(f"{path} defines no {kind} called {name}" + (f": did you mean {close[0]}?" if close else ""))
    return getattr(module, name)


def make_own(maker: Callable[..., Any], own: OwnName, given: Mapping[str, Callable[[], Any]], label: str) -> Any:
    """Returns what a user's own class (or function) makes.

    Args:
      maker: The class or function.
      own: Its name with the arguments that the user wrote.
      given: Makers of further arguments, by name. Each is called only if `maker` has a parameter of that name.
      label: Its name in error lines.

    Raises:
      TacitError: an argument is unknown, missing or of the wrong type, or the maker raised; the message names the line.
    """
    values = parse_arguments(maker, own.arguments, label, given)
    passed = {key: make() for key, make in given.items() if key in _parameters(maker)}
    try:
        return maker(**passed, **values)
    except TacitError:
        raise
    except Exception as error:
        raise TacitError(f"{own.path}: {maker.__name__}() raised {in_one_line(error)}") from error


def parse_arguments(
    maker: Callable[..., Any], arguments: str, label: str, given: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Returns the keyword arguments of a text `key=value,...`, converted to the types of a maker's parameters.

    The text may not set the parameters in `given`.

    Raises:
      TacitError: an argument is unknown, given twice, missing or cannot be read.
    """
    known = {key: parameter for key, parameter in _parameters(maker).items() if key not in (given or {})}
    refused: Mapping[str, str] = getattr(maker, "refused_parameters", {})
    parsed: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in arguments.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        for word, reason in refused.items():
            if key.lower().startswith(word):
                raise TacitError(f"{label} takes no {key}: {reason}")
        if key not in known:
            raise TacitError(f"{label} has no parameter {key!r}{_hint(key, list(known))}")
        if not equals:
            raise TacitError(f"{label}: {key} needs a value: write {key}=...")
        if key in parsed:
            raise TacitError(f"{label}: {key} is given twice")
        parsed[key] = _parse_value(maker, label, known[key], value)
    for key, parameter in known.items():
        if key not in parsed and parameter.default is Parameter.empty:
            raise TacitError(f"{label} needs a value for {key}: write {label}({key}=...)")
    return parsed


def in_one_line(error: BaseException) -> str:
    """Returns what was raised, and the file and line where, if that is neither our code nor a library's."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({_shown(error.filename or '')}:{error.lineno})"
    reason, place = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": "), own_place(error)
    return reason if place is None else f"{reason} ({place})"


def own_place(error: BaseException, imported: bool = False) -> str | None:
    """Returns the innermost line of a user's own code in an error's traceback, `FILE:LINE`, or None.

    Args:
      error: The exception.
      imported: Whether to count only files imported by `load_own` and files in their folders.
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        library = "site-packages" in file.parts or any(file.is_relative_to(home) for home in _LIBRARIES)
        counts = any(file.is_relative_to(folder) for folder in _folders) if imported else file.is_file()
        if counts and not library:
            return f"{_shown(frame.filename)}:{frame.lineno}"
    return None


def _imported(file: Path, shown: str) -> ModuleType:
    """Returns the module of a file, imported again only if the file has changed."""
    # The module gets a unique name: a file called json.py must not replace the module json.
    name = f"{_PREFIX}{file.stem}_{crc32(str(file).encode()):08x}"
    for known in list(sys.modules.values()):
        # The running script already defines its classes; importing it would run it again.
        if getattr(known, "__file__", None) == str(file) and not known.__name__.startswith(_PREFIX):
            return known
    stamp = file.stat().st_mtime_ns, file.stat().st_size
    if name in sys.modules and _stamps.get(name) == stamp:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name], _stamps[name] = module, stamp  # dataclasses look their module up by name
    _make_way(file.parent)
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise TacitError(f"{shown} cannot be imported: {in_one_line(error)}") from error
    finally:
        sys.path.remove(str(file.parent))
    if str(file.parent) not in sys.path:  # last, so that what is imported later cannot take the place of a library
        sys.path.append(str(file.parent))
    return module


def _make_way(folder: Path) -> None:
    """Forgets modules from other files' folders whose names are also those of files in this folder."""
    others = [other for other in _folders if other != folder]
    for name, module in list(sys.modules.items()):
        home = getattr(module, "__file__", None)
        if home and Path(home).parent in others and not name.startswith(_PREFIX) and (folder / f"{name}.py").is_file():
            del sys.modules[name]
    _folders[:] = [folder, *others]


def _parameters(maker: Callable[..., Any]) -> dict[str, Parameter]:
    """Returns the parameters of a class or a function that can be given by name."""
    kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    try:
        known = signature(maker).parameters
    except ValueError:  # some builtins have no signature
        return {}
    return {key: parameter for key, parameter in known.items() if parameter.kind in kinds}


def _parse_value(maker: Callable[..., Any], label: str, parameter: Parameter, value: str) -> Any:
    """Returns a value of a parameter's annotated type: `bool`, `int`, `float`, `str`, or one of these or None.

    Without an annotation it has the type of the default, or is a text if there is none.
    """
    annotated = maker if is_dataclass(maker) or not isinstance(maker, type) else maker.__init__  # type: ignore[misc]
    try:
        hint = get_type_hints(annotated).get(parameter.name)
    except NameError as error:
        raise TacitError(f"{label}: the type of {parameter.name} is unknown: {error}") from None
    if hint is None:
        hint = str if parameter.default in (Parameter.empty, None) else type(parameter.default)
    kinds = get_args(hint) or (hint,)
    if type(None) in kinds and value.lower() == "none":
        return None
    kind: Any = next((kind for kind in kinds if kind in (bool, int, float, str)), None)
    if kind is None:
        raise TacitError(f"{label}: {parameter.name} cannot be given as text, only in Python")
    try:
        return {"true": True, "false": False}[value.lower()] if kind is bool else kind(value)
    except (ValueError, KeyError):
        raise TacitError(f"{label}: {parameter.name} must be {_KINDS[kind]}, not {value!r}") from None


def _hint(key: str, known: list[str]) -> str:
    """Returns a hint for a user who named an unknown parameter."""
    listed = f" (it takes: {', '.join(known) or 'none'})"
    if not key.isidentifier():
        return f": commas separate parameters, and each is written key=value{listed}"
    close = get_close_matches(key, known, n=1, cutoff=0.7)
    return f": did you mean {close[0]}?{listed}" if close else listed


def _shown(path: str) -> str:
    """Returns a path, relative to the working folder if it is inside."""
    file = Path(path)
    return str(file.relative_to(Path.cwd())) if file.is_relative_to(Path.cwd()) else str(file)
