"""Parts of one's own by name, `FILE.py:CLASS(key=value,...)`: games, agents, leaf evaluators and networks.

A file is imported as Python runs a script: modules beside it can be imported, too. It is imported once, however many names
refer to it, and again after it was changed.
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
"""What a parameter must be, in words."""
_stamps: dict[str, tuple[int, int]] = {}
"""When each module was last changed and how long it was, as it was imported."""
_folders: list[Path] = []
"""The folders of all files that were imported, the latest first."""
_LIBRARIES = (Path(__file__).parents[1], Path(sysconfig.get_paths()["stdlib"]))


@dataclass(frozen=True)
class OwnName:
    """The name of something in a file of one's own.

    Attributes:
      path: The file, as it was written.
      class_name: What it defines there.
      arguments: What stands in parentheses.
    """

    path: str
    class_name: str
    arguments: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.class_name}" + (f"({self.arguments})" if self.arguments else "")

    def found_near(self, place: str | Path) -> OwnName:
        """Returns the name with a path that exists: its own, or one that moved along with `place`.

        A file that is no longer where it was is looked for beside `place` and in the folders above it, under as much of its
        old path as fits: a project may be moved or copied as a whole.

        Raises:
          TacitError: it is nowhere there.
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
        """Returns the name with the whole path, so that it means the same from everywhere."""
        return OwnName(str(Path(os.path.expanduser(self.path)).resolve()), self.class_name, self.arguments)


def parse_own(text: str) -> OwnName | None:
    """Returns the parts of `FILE.py:CLASS(...)`, None where `text` is something else."""
    match = re.fullmatch(r"\s*(.+\.py):(\w+)\s*(?:\((.*)\))?\s*", text)
    return None if match is None else OwnName(match[1], match[2], match[3] or "")


def source_of(part_class: type[Any]) -> OwnName | None:
    """Returns by which name a class is found again, with the whole path; None for ours, and for what no file defines."""
    module = sys.modules.get(part_class.__module__)
    path = getattr(module, "__file__", None)
    ours = part_class.__module__.partition(".")[0] == __name__.partition(".")[0]
    if ours or not path or not path.endswith(".py") or not hasattr(module, part_class.__qualname__):
        return None
    return OwnName(path, part_class.__qualname__).absolute()


def load_own(path: str, name: str, kind: str = "class") -> Any:
    """Returns what a Python file defines under a name; `kind` is what the user is told was wanted.

    Raises:
      TacitError: there is no such file or name, or importing the file failed; it says in which line.
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
    """Returns what a class (or a function) of one's own makes.

    Args:
      maker: it.
      own: its name with the arguments that the user wrote.
      given: what is passed to parameters of these names, where it has them, made when needed.
      label: what the user is told it is called.

    Raises:
      TacitError: an argument is unknown, missing or of the wrong type, or it raised an exception; it says in which line.
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
    """Returns keyword arguments, `key=value,...`, by the types of a maker's parameters; `given` ones are not the user's.

    Raises:
      TacitError: one is unknown, given twice, missing or cannot be read.
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
    """Returns what was raised, and in which line of whose file, where that is neither ours nor a library's."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg} ({_shown(error.filename or '')}:{error.lineno})"
    reason, place = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": "), own_place(error)
    return reason if place is None else f"{reason} ({place})"


def own_place(error: BaseException, imported: bool = False) -> str | None:
    """Returns the last line of somebody's own code that an error passed, `FILE:LINE`; None where it passed none.

    Args:
      error: what was raised.
      imported: whether only files count that were imported by `load_own`, and those in their folders.
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        library = "site-packages" in file.parts or any(file.is_relative_to(home) for home in _LIBRARIES)
        counts = any(file.is_relative_to(folder) for folder in _folders) if imported else file.is_file()
        if counts and not library:
            return f"{_shown(frame.filename)}:{frame.lineno}"
    return None


def _imported(file: Path, shown: str) -> ModuleType:
    """Returns the module of a file: the one at hand where it has not changed since."""
    # A name of its own: a file called json.py must not take the place of the module json.
    name = f"{_PREFIX}{file.stem}_{crc32(str(file).encode()):08x}"
    for known in list(sys.modules.values()):
        # The script that is running defines its classes already, and would run again.
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
    """Forgets modules from folders of other files that have the names of modules in this one."""
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
    except ValueError:  # some builtins do not tell
        return {}
    return {key: parameter for key, parameter in known.items() if parameter.kind in kinds}


def _parse_value(maker: Callable[..., Any], label: str, parameter: Parameter, value: str) -> Any:
    """Returns a value of the type a parameter is annotated with: `bool`, `int`, `float`, `str`, or one of these or None.

    Without an annotation it is of the type of the default, else what it looks like.
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
        raise TacitError(f"{label}: {parameter.name} cannot be given in words, only in Python")
    try:
        return {"true": True, "false": False}[value.lower()] if kind is bool else kind(value)
    except (ValueError, KeyError):
        raise TacitError(f"{label}: {parameter.name} must be {_KINDS[kind]}, not {value!r}") from None


def _hint(key: str, known: list[str]) -> str:
    """Returns what may help somebody who named a parameter that is not there."""
    listed = f" (it takes: {', '.join(known) or 'none'})"
    if not key.isidentifier():
        return f": commas separate parameters, and each is written key=value{listed}"
    close = get_close_matches(key, known, n=1, cutoff=0.7)
    return f": did you mean {close[0]}?{listed}" if close else listed


def _shown(path: str) -> str:
    """Returns a path as short as it can be said from here."""
    file = Path(path)
    return str(file.relative_to(Path.cwd())) if file.is_relative_to(Path.cwd()) else str(file)
