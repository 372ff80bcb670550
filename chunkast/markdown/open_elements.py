"""Match opening and closing marks, and select the spans that are properly nested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

__all__ = ("OpenElements", "nested")

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


class OpenElements(Generic[Key, Item]):
    """The open elements, outermost first. Each has a key, such as a tag's name, and an item."""

    def __init__(self) -> None:
        self.stack: list[tuple[Key, Item]] = []
        self._waiting: Counter[Key] = Counter()

    def open(self, key: Key, item: Item) -> None:
        """Add an element inside the innermost one."""
        self.stack.append((key, item))
        self._waiting[key] += 1

    def close(self, key: Key) -> list[Item]:
        """Close the innermost element with this key, and all elements inside it.

        Returns their items, innermost first, or an empty list if no element has this key.
        """
        closed: list[Item] = []
        opened: Key | None = None
        while opened != key and (closed or self._waiting[key]):
            opened, item = self.stack.pop()
            self._waiting[opened] -= 1
            closed.append(item)
        return closed


def nested(spans: Iterable[tuple[int, int]], deepest: int | None = None) -> list[tuple[int, int]]:
    """Return the sorted spans, outer spans first, without those that cross one returned earlier.

    If ``deepest`` is given, spans inside that many returned spans are omitted too.
    """
    kept: list[tuple[int, int]] = []
    ends: list[int] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        while ends and ends[-1] <= start:
            ends.pop()
        if len(ends) != deepest and (not ends or end <= ends[-1]):
            kept.append((start, end))
            ends.append(end)
    return kept
