"""Which nodes of a large graph are drawn: those near the outputs, and inputs; a box is the rest."""

from collections import deque
from collections.abc import Iterable, Sequence

ACROSS = 8  # leaves of a folded graph: they stand in one row


def shown(inputs: Sequence[Sequence[int]], outputs: Iterable[int], most: int) -> list[int]:
    """Places of at most `most` nodes, one of which is left free for the box of the rest.

    An operation is drawn only if all its users are, so what is hidden depends on hidden nodes and leaves
    only, and the box can stand between leaves and operations. Of the leaves, those that drawn operations use
    come first.
    """
    if len(inputs) <= most:
        return list(range(len(inputs)))
    room = max(most, 3) - 1
    leaves = [node for node, own in enumerate(inputs) if not own]
    across = min(len(leaves), ACROSS, room // 2)
    upper = _upper(inputs, outputs, min(len(inputs) - len(leaves), room - across))
    used = {i for node in upper for i in inputs[node]}
    leaves.sort(key=lambda leaf: leaf not in used)
    return sorted([*upper, *leaves[:across]])


def _upper(inputs: Sequence[Sequence[int]], outputs: Iterable[int], most: int) -> list[int]:
    open_uses = [0] * len(inputs)
    for own in inputs:
        for i in own:
            open_uses[i] += 1
    waiting = deque(node for node in dict.fromkeys(outputs) if inputs[node] and not open_uses[node])
    found: list[int] = []
    while waiting and len(found) < most:
        node = waiting.popleft()
        found.append(node)
        for i in inputs[node]:
            open_uses[i] -= 1
            if not open_uses[i] and inputs[i]:
                waiting.append(i)
    return found
