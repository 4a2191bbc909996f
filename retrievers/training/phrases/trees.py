"""Binary trees over the tokens of a phrase, from a bracketed parse, or right-branching without one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from qa_core.text.analysis import words

Merge = tuple[int, int]

_PIECE = re.compile(r"[()]|[^\s()]+")
_PARSE = re.compile(r"\s*\(\s*(?:\(|[A-Z][A-Z$-]*[\s(])")
_BRACKETS = {"-lrb-": "(", "-rrb-": ")"}
_EMPTY = "-NONE-"


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes are numbered: first the tokens, then one node per merge, a left and a right earlier node.

    n tokens have n − 1 merges, and the last node is the root. Raises ValueError for anything else.
    """

    tokens: tuple[str, ...]
    merges: tuple[Merge, ...]

    def __post_init__(self) -> None:
        children = sorted(child for merge in self.merges for child in merge)
        made_before = all(max(merge) < len(self.tokens) + k for k, merge in enumerate(self.merges))
        children_once = children == list(range(len(self.tokens) + len(self.merges) - 1))
        if not self.tokens or not made_before or not children_once:
            raise ValueError(
                f"Expected a binary tree over at least one token, but got {len(self.tokens)} tokens and the merges "
                f"{list(self.merges)}; every node but the root is a child once."
            )

    def levels(self) -> list[int]:
        """The height of the node of each merge: 1 above two tokens, else one more than its higher child."""
        heights = [0] * len(self.tokens)
        for left, right in self.merges:
            heights.append(1 + max(heights[left], heights[right]))
        return heights[len(self.tokens) :]


def tree_of(text: str) -> Tree:
    """The binarised parse of a bracketed text, or the right-branching tree of a plain one, in lower case.

    Raises ValueError for a text without words or with brackets that do not match.
    """
    return parsed(text) if _PARSE.match(text) else right_branching(words(text))


def right_branching(tokens: Sequence[str]) -> Tree:
    """`(a (b (c d)))`. Raises ValueError without tokens."""
    last = len(tokens) - 1
    merges = [(last - 1 - k, last + k) for k in range(last)]
    return Tree(tuple(tokens), tuple(merges))


def parsed(text: str) -> Tree:
    """A constituency tree in Penn Treebank's brackets, `(NP (DT the) (JJ old) (NN house))`, as a binary tree.

    Labels, traces and nodes with one child are dropped, and more than two children branch to the right. Tokens are in
    lower case.

    Raises:
        ValueError: for brackets that do not match, a label without a child, or no token at all.
    """
    builder = _Builder(text)
    for piece in _PIECE.findall(text):
        match piece:
            case "(":
                builder.open()
            case ")":
                builder.close()
            case _:
                builder.add(piece)
    return builder.tree()


def pruned(tree: Tree, keep: Callable[[str], bool]) -> Tree | None:
    """The tree of the tokens to keep, or None; a node that lost a child is replaced by its other child."""
    remaining = [node for node, token in enumerate(tree.tokens) if keep(token)]
    if len(remaining) == len(tree.tokens):
        return tree
    number: list[int | None] = [None] * len(tree.tokens)
    for new, old in enumerate(remaining):
        number[old] = new
    merges: list[Merge] = []
    for merge in tree.merges:
        left, right = (number[child] for child in merge)
        if left is None or right is None:
            number.append(right if left is None else left)
        else:
            number.append(len(remaining) + len(merges))
            merges.append((left, right))
    return Tree(tuple(tree.tokens[node] for node in remaining), tuple(merges)) if remaining else None


def bracketed(tree: Tree) -> str:
    """The tree as `(a (b c))`."""
    nodes = list(tree.tokens)
    for left, right in tree.merges:
        nodes.append(f"({nodes[left]} {nodes[right]})")
    return nodes[-1]


@dataclass(slots=True)
class _Frame:
    """An open bracket: its label, its nodes so far, and whether it has any children, traces included."""

    label: str | None = None
    nodes: list[int] = field(default_factory=list)
    filled: bool = False


class _Builder:
    """Builds a tree from the pieces of a parse; the node of merge k is −1 − k until all tokens are known."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[str] = []
        self._merges: list[Merge] = []
        self._open = [_Frame(label="")]

    def open(self) -> None:
        self._open[-1].filled = True
        self._open.append(_Frame())

    def add(self, piece: str) -> None:
        """Add the label of a bracket that was just opened, or a token."""
        frame = self._open[-1]
        if len(self._open) == 1:
            raise self._wrong(f"{piece!r} outside of all brackets")
        if frame.label is None and not frame.filled:
            frame.label = piece
            return
        frame.filled = True
        if frame.label != _EMPTY:
            frame.nodes.append(len(self._tokens))
            self._tokens.append(_BRACKETS.get(piece.lower(), piece.casefold()))

    def close(self) -> None:
        if len(self._open) == 1:
            raise self._wrong("a bracket closed that was not opened")
        frame = self._open.pop()
        if not frame.filled:
            raise self._wrong(f"the label {frame.label!r} without a child" if frame.label else "empty brackets")
        if frame.nodes:
            self._open[-1].nodes.append(self._joined(frame.nodes))

    def tree(self) -> Tree:
        if len(self._open) > 1:
            raise self._wrong(f"{len(self._open) - 1} brackets that are not closed")
        if not self._tokens:
            raise self._wrong("no token")
        self._joined(self._open[0].nodes)
        count = len(self._tokens)
        merges = [tuple(node if node >= 0 else count - 1 - node for node in merge) for merge in self._merges]
        return Tree(tuple(self._tokens), tuple((left, right) for left, right in merges))

    def _joined(self, nodes: Sequence[int]) -> int:
        """Join nodes into one, branching to the right."""
        *others, node = nodes
        for other in reversed(others):
            self._merges.append((other, node))
            node = -len(self._merges)
        return node

    def _wrong(self, what: str) -> ValueError:
        return ValueError(f"Expected a bracketed parse, but got {what} in {self._text[:80]!r}; correct the brackets.")
