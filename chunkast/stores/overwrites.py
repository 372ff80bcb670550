"""Order the rows to overwrite, so that no vector is lost before it is used elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from chunkast.stores.target import Row

__all__ = ("Pending", "ordered")


@dataclass(frozen=True, slots=True)
class Pending:
    """A row that needs a vector.

    text: the text to embed.
    needs: the hash of that text.
    loses: the hash of the vector that is overwritten; empty if there is none that could be used.
    """

    row: Row
    text: str
    needs: str
    loses: str = ""


def ordered(overwrites: Sequence[Pending]) -> list[Pending]:
    """Return the overwrites in an order in which the vectors can be moved one by one.

    A vector is overwritten only after a row that needs it, if there is one, was written. In a
    cycle, such as two rows that trade places, one vector has to be kept in memory; each cycle ends
    before the next one begins.
    """
    losing: defaultdict[str, list[Pending]] = defaultdict(list)
    for each in overwrites:
        losing[each.loses].append(each)
    # A vector that is needed -> one that is overwritten by it.
    before = {each.needs: each.loses for each in overwrites}
    result: list[Pending] = []
    for first in (*(lost for lost in losing if lost not in before), *losing):
        # Go back to a vector that nothing needs, or to one in a cycle.
        seen: set[str] = set()
        start = first
        while start not in seen:
            seen.add(start)
            start = before.get(start, start)
        free = [start]
        while free:
            for each in losing.pop(free.pop(), ()):
                result.append(each)
                free.append(each.needs)
    return result
