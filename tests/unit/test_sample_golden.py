"""The sample's golden values, computed a second time without its code."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[2] / "third_party/sample"
GOLDEN = json.loads((SAMPLE / "golden.json").read_text(encoding="utf-8"))
MASK = (1 << 64) - 1
VOCABULARY = [
    line
    for line in (SAMPLE / "litert_lm/runtime/components/tokenizer/vocabulary.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
FIRST_WORD = 3
ACTIVATION_MAX = 32767


def mix64(value: int) -> int:
    value ^= value >> 33
    value = value * 0xFF51AFD7ED558CCD & MASK
    value ^= value >> 33
    value = value * 0xC4CEB9FE1A85EC53 & MASK
    return value ^ (value >> 33)


def seeded_int8(seed: int, count: int) -> list[int]:
    state, values = seed, []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        values.append(mix64(state) % 255 - 127)
    return values


def read_model() -> tuple[int, dict[str, list[list[int]]], list[tuple[str, str]]]:
    """(dimension, weights by name, operations) of the sample's model; the CRC of each matrix is checked."""
    dimension, weights, operations = 0, {}, []
    for line in (SAMPLE / "models/tiny.model").read_text(encoding="utf-8").splitlines():
        words = line.split()
        fields = dict(word.split("=") for word in words if "=" in word)
        match words[:1]:
            case ["dimension"]:
                dimension = int(words[1])
            case ["external"]:
                values = seeded_int8(int(fields["seed"]), int(fields["rows"]) * dimension)
                assert zlib.crc32(struct.pack(f"{len(values)}b", *values)) == int(fields["crc"])
                weights[words[1]] = [values[i : i + dimension] for i in range(0, len(values), dimension)]
            case ["op"]:
                operations.append((words[1], fields.get("weights", "")))
    return dimension, weights, operations


def tokenize(text: str) -> list[int]:
    tokens, word = [], bytearray()
    for byte in (*text.encode(), 0x20):
        if byte >= 0x80 or chr(byte).isalnum():
            word += bytes([byte]).lower()
        elif word:
            digest = 0xCBF29CE484222325
            for each in word:
                digest = (digest ^ each) * 0x100000001B3 & MASK
            known = word.decode() in VOCABULARY[FIRST_WORD:]
            hashed = FIRST_WORD + mix64(digest) % (len(VOCABULARY) - FIRST_WORD)
            tokens.append(VOCABULARY.index(word.decode()) if known else hashed)
            word.clear()
    return tokens or [2]


def towards_zero(numerator: int, denominator: int) -> int:
    return abs(numerator) // denominator * (1 if numerator >= 0 else -1)


def saturate(value: int) -> int:
    return max(-ACTIVATION_MAX, min(ACTIVATION_MAX, value))


def run(tokens: list[int]) -> list[int]:
    _, weights, operations = read_model()
    rows: list[list[int]] = []
    for code, name in operations:
        match code:
            case "EMBEDDING_LOOKUP":
                rows = [[value * (16 + 64 // (len(tokens) - at)) for value in weights[name][token]] for at, token in enumerate(tokens)]
            case "MEAN_POOL":
                rows = [[towards_zero(sum(column), len(rows)) for column in zip(*rows, strict=True)]]
            case "FULLY_CONNECTED":
                rows = [[saturate(sum(a * b for a, b in zip(line, row, strict=True)) >> 10) for line in weights[name]] for row in rows]
            case "RELU":
                rows = [[towards_zero(value, 8) if value < 0 else value for value in row] for row in rows]
            case "NORMALIZE":
                largest = [max(1, *(abs(value) for value in row)) for row in rows]
                rows = [[saturate(towards_zero(v * 4096, most)) for v in row] for row, most in zip(rows, largest, strict=True)]
            case _:
                raise AssertionError(code)
    return rows[0]


def generate(text: str, count: int) -> str:
    """The greedy answer: the best word that is not among the last six."""
    _, weights, _ = read_model()
    history = tokenize(text)
    answer = []
    for _ in range(count):
        hidden = run(history)
        logits = [sum(a * b for a, b in zip(row, hidden, strict=True)) for row in weights["embedder"]]
        allowed = [token for token in range(FIRST_WORD, len(VOCABULARY)) if token not in history[-6:]]
        history.append(max(allowed, key=lambda token: (logits[token], -token)))
        answer.append(VOCABULARY[history[-1]])
    return " ".join(answer)


@pytest.mark.parametrize(
    ("name", "text"),
    [("embedding", "the quiet river"), ("embedding of other words", "Grüße aus Köln, 42 times"), ("embedding of nothing", "")],
)
def test_embedding_is_what_the_model_says(name: str, text: str) -> None:
    assert "".join(struct.pack(">f", value / 4096).hex() for value in run(tokenize(text))) == GOLDEN[name]


def test_greedy_text_is_what_the_model_says() -> None:
    assert generate("the river carries a question", 8) == GOLDEN["text"]


def test_conversation_streams_the_rendered_turn_word_by_word() -> None:
    words = generate("user: Why does the wind turn?", 8).split()
    chunks = [word if at == 0 else " " + word for at, word in enumerate(words)]
    messages = [{"role": "assistant", "content": [{"type": "text", "text": chunk}]} for chunk in chunks]
    assert GOLDEN["conversation"] == "".join(json.dumps(message, separators=(",", ":")) for message in messages)


def test_one_changed_weight_changes_the_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    dimension, weights, operations = read_model()
    before = run(tokenize("the quiet river"))
    weights["layer.first"][0] = [-value for value in weights["layer.first"][0]]
    monkeypatch.setitem(globals(), "read_model", lambda: (dimension, weights, operations))
    assert run(tokenize("the quiet river")) != before
