"""Registries: a decorator or an entry point adds a plug-in, no list is edited.

Built-in plug-ins are every module of the registry's own package; third-party
ones are entry points. A third-party plug-in that fails to import warns and is
left out; it never ends a run.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from unhorse.errors import UsageError

T = TypeVar("T")


class Registry(Generic[T]):
    """Named plug-ins of one kind.

    Args:
        kind: what a plug-in is called in messages, such as ``"method"``.
        package: the package whose modules register the built-in ones.
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self._package = package
        self._items: dict[str, T] = {}
        self._loaded = False

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator that adds a plug-in under `name`."""

        def add(item: T) -> T:
            if name in self._items:
                raise ValueError(f"two plug-ins claim the {self.kind} name {name!r}")
            self._items[name] = item
            return item

        return add

    def names(self) -> list[str]:
        """All known names, in alphabetical order."""
        self._load()
        return sorted(self._items)

    def get(self, name: str) -> T:
        """The plug-in called `name`; an unknown name is a usage error."""
        self._load()
        if name not in self._items:
            known = ", ".join(self.names())
            raise UsageError(f"There is no {self.kind} called {name!r}; known: {known}.")
        return self._items[name]

    def all(self) -> list[T]:
        """Every plug-in, ordered by name."""
        return [self._items[name] for name in self.names()]

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        package = importlib.import_module(self._package)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{self._package}.{module.name}")
        for entry in entry_points(group=f"unhorse.{self.kind}s"):
            try:
                item = entry.load()
                if entry.name not in self._items:
                    self._items[entry.name] = item
            except Exception as error:
                warnings.warn(
                    f"{self.kind} plug-in {entry.name!r} could not be loaded: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )
