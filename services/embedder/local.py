"""The adapter for the local model: one thread for each text, no memory arena, and no busy waiting."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

from schemas.asks import EmbeddedText
from services.embedder.convert import MODEL_FILE, TOKENIZER_FILE, model_folder

MOST_TOKENS = 256
"""Of a text that are read, with the two that mark its ends: the model was trained with no more."""
FULL = 127
"""A whole one in a signed byte."""


class LocalModel:
    """MiniLM on this machine. It may be asked from several threads."""

    def __init__(self, cache: Path) -> None:
        folder = model_folder(cache)
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._session = ort.InferenceSession(str(folder / MODEL_FILE), _options(), providers=["CPUExecutionProvider"])

    def embed(self, texts: Sequence[str], *, tokens: bool, pieces: bool) -> list[EmbeddedText]:
        """Each text's vector, and if wanted that of each of its tokens, and how these are written."""
        return [self._one(text, tokens=tokens, pieces=pieces) for text in texts]

    def _one(self, text: str, *, tokens: bool, pieces: bool) -> EmbeddedText:
        """One text at a time: many at once are no faster, and each would be rounded by what goes with it."""
        encoded = self._tokenizer.encode(text)
        ids = np.array([encoded.ids], np.int64)
        wanted = ["vector", "tokens"] if tokens else ["vector"]
        vector, *states = self._session.run(wanted, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        inner = slice(1, len(encoded.ids) - 1)  # without what marks the ends
        return EmbeddedText(
            vector=vector[0].astype("<f4").tobytes(),
            tokens=_signed(states[0][0, inner]) if tokens else b"",
            pieces=tuple(encoded.tokens[inner]) if pieces else (),
        )


def _signed(states: np.ndarray[Any, Any]) -> bytes:
    return bytes(np.rint(states * FULL).astype(np.int8).tobytes())


def _options() -> ort.SessionOptions:
    """One thread, which is the asker's own, and memory that is given back: this process waits most of its life."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return options
