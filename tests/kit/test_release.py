"""A large state is freed piece by piece."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

import weakref

import msgspec

from services.domain.fold import Map
from services.kit import garbage
from services.kit.garbage import release


class Leaf(msgspec.Struct, frozen=True, weakref=True):
    text: str


class Tree(msgspec.Struct, frozen=True, weakref=True):
    leaves: Map[str, Leaf]
    rows: tuple[list[Leaf], ...]


def test_every_piece_is_referred_to_before_the_whole_is_let_go_of() -> None:
    leaves = [Leaf(str(number)) for number in range(2_000)]
    tree = Tree(Map({leaf.text: leaf for leaf in leaves[:1_000]}), (leaves[1_000:],))
    pieces = [*garbage._pieces([tree])]  # noqa: SLF001 - what is let go of in turn
    assert {*map(id, leaves), id(tree), id(tree.leaves), id(tree.rows)} <= {*map(id, pieces)}


def test_nothing_is_left_of_it() -> None:
    tree = Tree(Map({"a": Leaf("a")}), ([Leaf("b")],))
    pieces = [weakref.ref(one) for one in (tree, tree.leaves["a"], tree.rows[0][0])]
    objects: list[object] = [tree]
    del tree
    release(objects)
    assert ([], [None] * 3) == (objects, [piece() for piece in pieces])
