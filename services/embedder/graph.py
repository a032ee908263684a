"""MiniLM as an ONNX graph, built from its published weights: what a text means, and what each of its tokens does."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, HEADS, LAYERS = 384, 12, 6
TOKEN_WIDTH = 64
"""Of a token's vector: enough to compare tokens with each other."""
REDUCED = "reduced"
"""The node that makes them smaller. It stays exact."""
OPSET, IR = 20, 9
MASKED = -1e4
"""The addend of attention for a token that only fills up: after the softmax nothing is left of it."""
EPSILON = 1e-12

Matrix = np.ndarray[Any, Any]
Weights = Mapping[str, Matrix]


class _Graph:
    """Nodes and constants in the order in which they are added."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: Matrix) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def numbers(self, name: str, *values: int) -> str:
        return self.constant(name, np.array(values, np.int64))

    def add(self, kind: str, inputs: Sequence[str], name: str = "", **attributes: Any) -> str:  # noqa: ANN401 - ONNX has attributes of many types
        output = name or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **attributes))
        return output


class _Encoder:
    """The layers of the model, one method for each kind."""

    def __init__(self, weights: Weights) -> None:
        self.graph = _Graph()
        self._weights = weights
        graph = self.graph
        self._split = graph.numbers("split", 0, 0, HEADS, WIDTH // HEADS)
        self._joined = graph.numbers("joined", 0, 0, WIDTH)
        self._scale = graph.constant("scale", np.array(math.sqrt(WIDTH // HEADS), np.float32))

    def embedded(self) -> str:
        """Words with their places."""
        graph, weights = self.graph, self._weights
        places = (
            weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        )
        words = graph.constant("words", weights["embeddings.word_embeddings.weight"])
        shape = graph.add("Shape", ["input_ids"])
        length = graph.add("Slice", [shape, graph.numbers("one", 1), graph.numbers("two", 2)])
        table = graph.constant("places", places.astype(np.float32))
        placed = graph.add("Slice", [table, graph.numbers("zero", 0), length])
        return self._normed(
            graph.add("Add", [graph.add("Gather", [words, "input_ids"]), placed]), "embeddings.LayerNorm"
        )

    def layer(self, states: str, bias: str, number: int) -> str:
        graph, at = self.graph, f"encoder.layer.{number}."
        query = self._head(states, f"{at}attention.self.query", [0, 2, 1, 3])
        key = self._head(states, f"{at}attention.self.key", [0, 2, 3, 1])
        value = self._head(states, f"{at}attention.self.value", [0, 2, 1, 3])
        scores = graph.add("Div", [graph.add("MatMul", [query, key]), self._scale])
        attention = graph.add("Softmax", [graph.add("Add", [scores, bias])], axis=-1)
        seen = graph.add("Transpose", [graph.add("MatMul", [attention, value])], perm=[0, 2, 1, 3])
        context = self._linear(graph.add("Reshape", [seen, self._joined]), f"{at}attention.output.dense")
        states = self._normed(graph.add("Add", [context, states]), f"{at}attention.output.LayerNorm")
        inner = graph.add("Gelu", [self._linear(states, f"{at}intermediate.dense")])
        outer = self._linear(inner, f"{at}output.dense")
        return self._normed(graph.add("Add", [outer, states]), f"{at}output.LayerNorm")

    def _head(self, states: str, name: str, order: list[int]) -> str:
        linear = self._linear(states, name)
        return self.graph.add("Transpose", [self.graph.add("Reshape", [linear, self._split])], perm=order)

    def _linear(self, states: str, name: str) -> str:
        weight = self.graph.constant(f"{name}.weight", self._weights[f"{name}.weight"].T)
        bias = self.graph.constant(f"{name}.bias", self._weights[f"{name}.bias"])
        return self.graph.add("Add", [self.graph.add("MatMul", [states, weight]), bias])

    def _normed(self, states: str, name: str) -> str:
        names = (f"{name}.weight", f"{name}.bias")
        weight, bias = (self.graph.constant(one, self._weights[one]) for one in names)
        return self.graph.add("LayerNormalization", [states, weight, bias], axis=-1, epsilon=EPSILON)


def reduction(states: Matrix) -> Matrix:
    """Takes such states to fewer dimensions: to those in which they differ most, so that angles stay as they are."""
    _, axes = np.linalg.eigh(states.T.astype(np.float64) @ states)
    leading = axes[:, ::-1][:, :TOKEN_WIDTH]
    largest = leading[np.abs(leading).argmax(axis=0), np.arange(TOKEN_WIDTH)]
    pointed: Matrix = leading * np.sign(largest)  # which way an axis points is chance
    return pointed.astype(np.float32)


def build(weights: Weights, reduced: Matrix | None = None) -> onnx.ModelProto:
    """The model: ids of tokens and which of them count go in; a vector for the text and one for each token come out.

    `reduced` takes states of tokens to what comes out; without it they come out as they are.
    """
    encoder = _Encoder(weights)
    graph = encoder.graph
    states = encoder.embedded()
    mask = graph.add("Cast", ["attention_mask"], to=TensorProto.FLOAT)
    missing = graph.add("Sub", [graph.constant("whole", np.array(1, np.float32)), mask])
    masked = graph.add("Mul", [missing, graph.constant("masked", np.array(MASKED, np.float32))])
    bias = graph.add("Unsqueeze", [masked, graph.numbers("heads_and_queries", 1, 2)])
    for number in range(LAYERS):
        states = encoder.layer(states, bias, number)
    counted = graph.add("Unsqueeze", [mask, graph.numbers("last", 2)])
    tokens = graph.numbers("tokens_axis", 1)
    total = graph.add("ReduceSum", [graph.add("Mul", [states, counted]), tokens], keepdims=0)
    mean = graph.add("Div", [total, graph.add("ReduceSum", [counted, tokens], keepdims=0)])
    graph.add("LpNormalization", [mean], "vector", axis=1, p=2)
    if reduced is not None:
        small = graph.add("MatMul", [states, graph.constant("reduction", reduced)], REDUCED)
        graph.add("LpNormalization", [small], "tokens", axis=2, p=2)
    else:
        graph.add("Identity", [states], "tokens")
    return _model(graph, WIDTH if reduced is None else TOKEN_WIDTH)


def _model(graph: _Graph, width: int) -> onnx.ModelProto:
    def described(name: str, kind: int, *shape: str | int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, shape)

    whole = helper.make_graph(
        graph.nodes,
        "minilm",
        [described(name, TensorProto.INT64, "texts", "length") for name in ("input_ids", "attention_mask")],
        [
            described("vector", TensorProto.FLOAT, "texts", WIDTH),
            described("tokens", TensorProto.FLOAT, "texts", "length", width),
        ],
        graph.constants,
    )
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    onnx.checker.check_model(model)
    return model
