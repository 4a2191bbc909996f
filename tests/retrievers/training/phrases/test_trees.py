import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrievers.training.phrases.trees import Tree, bracketed, parsed, pruned, right_branching, tree_of

TOKENS = st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=8)


@st.composite
def trees(draw) -> Tree:
    """Any binary tree: pairs of nodes without a parent are merged until one remains."""
    tokens = draw(TOKENS)
    free, merges = list(range(len(tokens))), []
    while len(free) > 1:
        left = free.pop(draw(st.integers(0, len(free) - 1)))
        right = free.pop(draw(st.integers(0, len(free) - 1)))
        free.append(len(tokens) + len(merges))
        merges.append((left, right))
    return Tree(tuple(tokens), tuple(merges))


def test_a_plain_phrase_branches_to_the_right():
    tree = tree_of("The very old house")
    assert tree == Tree(("the", "very", "old", "house"), ((2, 3), (1, 4), (0, 5)))
    assert bracketed(tree) == "(the (very (old house)))"
    assert tree.levels() == [1, 2, 3]
    assert tree_of("house") == Tree(("house",), ())


def test_a_parse_keeps_its_shape():
    tree = tree_of("(S (NP (DT The) (NN cat)) (VP (VBD sat) (ADVP (RB down))))")
    assert tree == Tree(("the", "cat", "sat", "down"), ((0, 1), (2, 3), (4, 5)))
    assert tree.levels() == [1, 1, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(NP (DT the) (JJ old) (JJ red) (NN house))", "(the (old (red house)))"),
        ("( (NP (NP (NN a) (NN b)) (PP (IN of) (NP (NN c)))) )", "((a b) (of c))"),
        ("(ROOT (X (NN cat)))", "cat"),
        ("(S (NP (-NONE- *)) (VP (VB go) (ADVP (RB home))))", "(go home)"),
        ("(NP a b)", "(a b)"),
        ("(NP (-LRB- -LRB-) (NN x) (-RRB- -RRB-))", "(( (x )))"),
        ("(A (B b))(C (D d))", "(b d)"),
    ],
)
def test_parses_are_binarised(text: str, expected: str):
    assert bracketed(parsed(text)) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(NP (DT the) (NN cat)", "1 brackets that are not closed"),
        ("(NP (DT the)) (NN cat))", "a bracket closed that was not opened"),
        ("(NP (DT) (NN cat))", "the label 'DT' without a child"),
        ("(NP () (NN cat))", "empty brackets"),
        ("(NP (NN cat)) sat", "'sat' outside of all brackets"),
        ("(S (-NONE- *))", "no token"),
    ],
)
def test_broken_parses_are_refused(text: str, reason: str):
    with pytest.raises(ValueError, match="Expected a bracketed parse, but got") as error:
        parsed(text)
    assert reason in str(error.value)


def test_a_parenthesis_in_a_phrase_is_not_a_parse():
    assert tree_of("(what) a day").tokens == ("what", "a", "day")


@pytest.mark.parametrize("text", ["", " ?! "])
def test_without_words_there_is_no_tree(text: str):
    with pytest.raises(ValueError, match="at least one token, but got 0 tokens"):
        tree_of(text)


@pytest.mark.parametrize("merges", [(), ((0, 1),), ((0, 1), (0, 3)), ((0, 3), (1, 2)), ((0, 1), (2, 4))])
def test_other_graphs_are_refused(merges):
    with pytest.raises(ValueError, match="Expected a binary tree"):
        Tree(("a", "b", "c"), merges)


def test_a_deep_parse_is_read():
    depth = 20_000
    assert len(parsed("(A " * depth + "b" + ")" * depth).tokens) == 1


@given(TOKENS)
def test_right_branching_trees_are_trees(tokens: list[str]):
    tree = right_branching(tokens)
    assert tree.levels() == list(range(1, len(tokens)))


@given(trees(), st.sets(st.sampled_from(["a", "b", "ab", "abc", "c", "cc"])))
def test_pruning_removes_tokens(tree: Tree, removed: set[str]):
    left = pruned(tree, lambda token: token not in removed)
    expected = [token for token in bracketed(tree).replace("(", "").replace(")", "").split() if token not in removed]
    if left is None:
        assert not expected
    else:
        assert bracketed(left).replace("(", "").replace(")", "").split() == expected


def test_pruning_joins_the_remaining_nodes():
    tree = parsed("(X (Y (A a) (B b)) (Z (C c) (D d)))")
    assert bracketed(pruned(tree, lambda token: token != "b")) == "(a (c d))"
    assert pruned(tree, lambda _: False) is None
    assert pruned(tree, lambda _: True) is tree
