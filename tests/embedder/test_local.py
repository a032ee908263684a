"""The local model: what it makes of texts is what its weights make of them."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from schemas.asks import EmbeddedText
from services.embedder.convert import DIGEST, FOLDER, NoModel, convert, installed, model_folder
from services.embedder.local import LocalModel

SENTENCES = ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LocalModel:
    return LocalModel(tmp_path_factory.mktemp("models"))


def vectors(texts: Sequence[EmbeddedText]) -> np.ndarray:
    return np.stack([np.frombuffer(text.vector, "<f4") for text in texts])


def tokens(text: EmbeddedText) -> np.ndarray:
    return np.frombuffer(text.tokens, np.int8).reshape(-1, 64).astype(np.float32) / 127


def test_what_means_the_same_is_near(model: LocalModel) -> None:
    """The published model has 0.666, 0.105 and 0.141 here; numbers of a byte differ a little."""
    found = vectors(model.embed(SENTENCES, tokens=False, pieces=False))
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    near = [found[0] @ found[1], found[0] @ found[2], found[1] @ found[2]]
    assert np.allclose([0.666, 0.105, 0.141], near, atol=0.02)


def test_a_text_has_the_same_vectors_whatever_goes_with_it(model: LocalModel) -> None:
    texts = [f"{'a long way ' * (number % 5)}number {number}" for number in range(20)]
    together = model.embed(texts, tokens=True, pieces=False)
    assert together == [*(model.embed([text], tokens=True, pieces=False)[0] for text in texts)]


def test_each_token_has_a_vector_and_a_spelling(model: LocalModel) -> None:
    (found,) = model.embed(["the harbour master"], tokens=True, pieces=True)
    assert ("the", "harbour", "master") == found.pieces
    assert (3, 64) == tokens(found).shape
    assert np.allclose(np.linalg.norm(tokens(found), axis=1), 1, atol=0.05)


def test_a_token_is_nearest_to_the_same_word_elsewhere(model: LocalModel) -> None:
    question, text = model.embed(
        ["which crane fell", "yesterday the old crane by the quay fell"], tokens=True, pieces=True
    )
    nearest = (tokens(question) @ tokens(text).T).argmax(axis=1)
    assert ["crane", "fell"] == [text.pieces[place] for place in nearest[1:]]


def test_no_text_and_much_text_have_a_vector_too(model: LocalModel) -> None:
    short, long = model.embed(["", "word " * 5000], tokens=True, pieces=False)
    assert (0, 254 * 64) == (len(short.tokens), len(long.tokens))
    assert (384 * 4, 384 * 4) == (len(short.vector), len(long.vector))


def test_the_model_is_made_once_and_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert installed() / FOLDER == model_folder(tmp_path)
    monkeypatch.setattr("services.embedder.convert.installed", lambda: tmp_path / "nothing")
    made = convert(tmp_path)
    assert DIGEST in made.name
    before = (made / "model.onnx").stat().st_mtime_ns
    assert (made, before) == (model_folder(tmp_path), (made / "model.onnx").stat().st_mtime_ns)
    assert [made] == list(tmp_path.iterdir())


@pytest.mark.parametrize("used", ["LocalModel(place).embed(['a text'], tokens=True, pieces=True)", "convert(place)"])
def test_what_runs_the_model_reports_to_nobody(used: str, tmp_path: Path) -> None:
    """It would give this machine a number, and note for its maker what it runs, under the person's home."""
    home, place = tmp_path / "home", tmp_path / "models"
    home.mkdir()
    names = "from services.embedder.local import LocalModel; from services.embedder.convert import convert"
    program = f"from pathlib import Path; {names}; place = Path({str(place)!r}); {used}"
    env = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home), "ORT_DISABLE_TELEMETRY": "0"}
    subprocess.run([sys.executable, "-c", program], env=env, check=True)
    assert [] == list(home.iterdir())


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.embedder.convert.WEIGHTS", "0" * 64)
    with pytest.raises(NoModel, match="not what was published"):
        convert(tmp_path)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.embedder.convert.PACKAGE", "no_such_package")
    with pytest.raises(NoModel, match=r"requirements-model\.lock"):
        convert(tmp_path)
