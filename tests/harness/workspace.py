"""A small real project for the agents to work on, in a git repository."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

_README = """# Orchard

Orchard keeps the stock of a fruit shop: what is on the shelves, what it costs, and what a basket comes to.

    python -m orchard.cli stock
    python -m orchard.cli price apple 12

Prices are in cents. Discounts begin at ten pieces; see `docs/pricing.md`.
"""

_AGENTS = """# How to work here

- Run the tests with `python3 -m unittest discover -s tests`.
- Money is counted in whole cents, never in floats.
- `orchard/catalogue.py` is generated; change `data/fruit.csv` instead.
"""

_PRICING_DOC = """# Pricing

| pieces | discount |
|---|---|
| below 10 | none |
| 10 to 99 | 5 % |
| 100 and more | 12 % |

A discount is rounded half up, to a whole cent, for the whole line and not for each piece.
"""

_MONEY = '''"""Amounts in whole cents."""


def formatted(cents):
    """An amount as a person reads it."""
    return f"{cents // 100}.{cents % 100:02d}"


def parsed(text):
    """An amount as a person writes it."""
    whole, _, part = text.partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0") or 0)


def share(cents, percent):
    """So many percent of an amount, rounded half up."""
    return (cents * percent + 50) // 100
'''

_PRICING = '''"""What a number of pieces costs."""

from orchard.money import share

STEPS = ((100, 12), (10, 5))


def discount(pieces):
    """The discount in percent."""
    for least, percent in STEPS:
        if pieces > least:  # one too late: the table says "10 and more"
            return percent
    return 0


def line_price(price, pieces):
    """The price of a line of the basket."""
    total = price * pieces
    return total - share(total, discount(pieces))
'''

_STOCK = '''"""What is on the shelves."""

from dataclasses import dataclass, field


class Missing(Exception):
    """More was taken than there is."""


@dataclass
class Stock:
    """Pieces by fruit."""

    pieces: dict = field(default_factory=dict)

    def put(self, fruit, count):
        self.pieces[fruit] = self.pieces.get(fruit, 0) + count

    def take(self, fruit, count):
        there = self.pieces.get(fruit, 0)
        if there < count:
            raise Missing(f"{count} {fruit} wanted, {there} there")
        self.pieces[fruit] = there - count

    def low(self, limit=5):
        """What is nearly gone, the scarcest first."""
        return sorted(((count, fruit) for fruit, count in self.pieces.items() if count <= limit))
'''

_BASKET = '''"""What somebody is about to buy."""

from dataclasses import dataclass, field

from orchard.catalogue import PRICES
from orchard.pricing import line_price


@dataclass
class Basket:
    """Pieces by fruit, at the catalogue's prices."""

    lines: dict = field(default_factory=dict)

    def add(self, fruit, pieces=1):
        if fruit not in PRICES:
            raise KeyError(f"no such fruit: {fruit}")
        self.lines[fruit] = self.lines.get(fruit, 0) + pieces

    def total(self):
        return sum(line_price(PRICES[fruit], pieces) for fruit, pieces in self.lines.items())
'''

_CLI = '''"""The command line."""

import argparse

from orchard.catalogue import PRICES
from orchard.money import formatted
from orchard.pricing import line_price


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="orchard")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("stock")
    price = verbs.add_parser("price")
    price.add_argument("fruit")
    price.add_argument("pieces", type=int)
    chosen = parser.parse_args(arguments)
    if chosen.verb == "stock":
        for fruit, cents in sorted(PRICES.items()):
            print(f"{fruit:24}{formatted(cents):>8}")
        return
    print(formatted(line_price(PRICES[chosen.fruit], chosen.pieces)))


if __name__ == "__main__":
    main()
'''

_TEST_MONEY = """import unittest

from orchard.money import formatted, parsed, share


class MoneyTest(unittest.TestCase):
    def test_written_and_read(self):
        self.assertEqual("12.05", formatted(1205))
        self.assertEqual(1205, parsed("12.05"))

    def test_half_a_cent_is_rounded_up(self):
        self.assertEqual(1, share(10, 5))
"""

_TEST_PRICING = """import unittest

from orchard.pricing import discount, line_price


class PricingTest(unittest.TestCase):
    def test_steps(self):
        self.assertEqual([0, 5, 5, 12], [discount(pieces) for pieces in (9, 10, 99, 100)])

    def test_a_line_is_rounded_once(self):
        self.assertEqual(1129, line_price(99, 12))
"""

_TEST_STOCK = """import unittest

from orchard.stock import Missing, Stock


class StockTest(unittest.TestCase):
    def test_nothing_is_taken_that_is_not_there(self):
        stock = Stock({"apple": 1})
        with self.assertRaises(Missing):
            stock.take("apple", 2)
        self.assertEqual({"apple": 1}, stock.pieces)
"""

_NAMES = ("apple", "pear", "plum", "quince", "cherry", "peach", "grape", "fig", "medlar", "apricot")
_SORTS = ("early", "late", "red", "green", "golden", "wild", "sweet", "sour")
_QUALITIES = ("loose", "boxed", "bruised", "prime")
LONG = "orchard/catalogue.py"
"""A file of more than 300 lines."""


def project() -> dict[str, str]:
    """The files of the project by name."""
    fruit = [f"{quality}-{sort}-{name}" for name in _NAMES for sort in _SORTS for quality in _QUALITIES]
    prices = {"apple": 25, "pear": 31, **{name: 20 + number * 7 % 180 for number, name in enumerate(fruit)}}
    entries = "".join(f'    "{name}": {cents},\n' for name, cents in prices.items())
    return {
        "README.md": _README,
        "AGENTS.md": _AGENTS,
        ".gitignore": "__pycache__/\n*.pyc\n",
        "docs/pricing.md": _PRICING_DOC,
        "docs/ideas.md": "# Ideas\n\n- a list of what is nearly gone\n- prices by season\n",
        "data/fruit.csv": "name,cents\n" + "".join(f"{name},{cents}\n" for name, cents in prices.items()),
        "orchard/__init__.py": '"""The stock of a fruit shop."""\n',
        LONG: f'"""Prices by fruit. Generated from data/fruit.csv."""\n\nPRICES = {{\n{entries}}}\n',
        "orchard/money.py": _MONEY,
        "orchard/pricing.py": _PRICING,
        "orchard/stock.py": _STOCK,
        "orchard/basket.py": _BASKET,
        "orchard/cli.py": _CLI,
        "tests/test_money.py": _TEST_MONEY,
        "tests/test_pricing.py": _TEST_PRICING,
        "tests/test_stock.py": _TEST_STOCK,
    }


def write(folder: Path, files: Mapping[str, str] | None = None) -> None:
    """Lay the files out, the project's own if none are given, and commit them."""
    for name, text in (project() if files is None else files).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--allow-empty", "--message=Begin")


def restore(folder: Path, name: str) -> None:
    """One of the project's files as it was at the beginning."""
    (folder / name).write_text(project()[name])


def _git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Gardener", "-c", "user.email=gardener@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)
