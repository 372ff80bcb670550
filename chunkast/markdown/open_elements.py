"""A stack of open elements, for readers of opening and closing marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ("OpenElements",)

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


class OpenElements(Generic[Key, Item]):
    """The open elements, outermost first: a key, such as a tag's name, and an item for each."""

    def __init__(self) -> None:
        self.stack: list[tuple[Key, Item]] = []
        self._waiting: Counter[Key] = Counter()

    def open(self, key: Key, item: Item) -> None:
        """Add an element inside the innermost one."""
        self.stack.append((key, item))
        self._waiting[key] += 1

    def close(self, key: Key) -> list[Item]:
        """Close the innermost element with this key, and those inside it.

        Returns their items, innermost first; without such an element, nothing is closed.
        """
        closed: list[Item] = []
        opened: Key | None = None
        while opened != key and (closed or self._waiting[key]):
            opened, item = self.stack.pop()
            self._waiting[opened] -= 1
            closed.append(item)
        return closed
