"""Docstrings of fields: the string literals under them, which Python itself throws away."""

import ast
import importlib
import inspect
from functools import cache
from itertools import pairwise


def summary(documented: object) -> str:
    """Put the docstring of a class, a function or a module in one line; empty where there is none."""
    text = getattr(documented, "__doc__", None) or ""
    return " ".join(text.split())


def field_docs(documented: type) -> dict[str, str]:
    """Find the meaning of each documented field, inherited ones included; the nearest class wins."""
    docs: dict[str, str] = {}
    for ancestor in reversed(documented.__mro__):
        docs |= _module_docs(ancestor.__module__).get(ancestor.__qualname__, {})
    return docs


@cache
def _module_docs(module: str) -> dict[str, dict[str, str]]:
    """Find the documented fields of every top-level class of a module."""
    try:
        source = inspect.getsource(importlib.import_module(module))
    except (OSError, TypeError):  # a module without Python source, as `builtins`
        return {}
    return {node.name: _documented(node.body) for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}


def _documented(body: list[ast.stmt]) -> dict[str, str]:
    return {
        field.target.id: text
        for field, below in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and (text := _text(below))
    }


def _text(statement: ast.stmt) -> str:
    """Read a statement that is nothing but a string; empty where it is another one."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(text.split())
        case _:
            return ""
