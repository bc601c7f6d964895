"""What the sample hears in src/smoke, computed a second time without its code."""

from __future__ import annotations

import json
from pathlib import Path

SAMPLE = Path(__file__).parents[2] / "third_party/sample"
GOLDEN = json.loads((SAMPLE / "golden.json").read_text(encoding="utf-8"))
WORDS = (SAMPLE / "models/tiny.words").read_text(encoding="utf-8").split()
SILENCE = int((SAMPLE / "models/tiny.asr").read_text(encoding="utf-8").split()[-1])
RATE, HOP = 16000, 160
WINDOW, OVERLAP, CAPACITY = RATE, RATE * 2 // 5, 2 * RATE


def audio() -> list[int]:
    """Eight seconds in units of 1/32768: a loudness every two, the sign changing with every sample."""
    return [(1 if i % 2 == 0 else -1) * loudness * 512 for loudness in (12, 0, 40, 63) for i in range(2 * RATE)]


def frames(window: list[int]) -> list[int]:
    """The word of each frame by its mean magnitude, -1 where it is silent."""
    means = [sum(map(abs, window[at : at + HOP])) // HOP for at in range(0, len(window), HOP)]
    levels = [(mean - SILENCE) * len(WORDS) // (32768 - SILENCE) for mean in means]
    return [-1 if mean < SILENCE else min(level, len(WORDS) - 1) for mean, level in zip(means, levels, strict=True)]


def heard(samples: list[int]) -> list[tuple[str, str]]:
    """(confirmed, unconfirmed) of each window: a word where it begins, and where it begins before the overlap it is confirmed."""
    texts, before, at, seen = [], -1, 0, 0
    while seen < len(samples):
        window = samples[at : at + WINDOW]
        words = frames(window + [0] * (WINDOW - len(window)))
        confirmed = len(words) - OVERLAP // HOP
        begins = [index for index, word in enumerate(words) if word >= 0 and word != (words[index - 1] if index else before)]
        early, late = ([WORDS[words[i]] for i in begins if (i < confirmed) == wanted] for wanted in (True, False))
        texts.append((" ".join(early), " ".join(late)))
        before, seen, at = words[confirmed - 1], at + len(window), at + WINDOW - OVERLAP
    return [*texts, (texts[-1][1], "")]


def refusals(samples: int) -> int:
    """How often the client finds the queue full: it pushes what it has, then a window is processed."""
    queue, pushed, count = 0, 0, 0
    while pushed < samples:
        accepted = min(samples - pushed, CAPACITY - queue)
        pushed, queue = pushed + accepted, queue + accepted - (WINDOW - OVERLAP)
        count += pushed < samples
    return count


def test_the_text_of_each_window_is_the_golden_one() -> None:
    texts = heard(audio())
    assert GOLDEN["speech"] == "|".join(f"{confirmed}[{unconfirmed}]" for confirmed, unconfirmed in texts)
    assert GOLDEN["speech windows"] == str(len(texts) - 1)


def test_the_queue_is_as_often_full() -> None:
    assert GOLDEN["speech queue full"] == str(refusals(len(audio())))


def test_a_stream_without_chunks_of_its_own_is_the_same_text() -> None:
    """Greedy answers: all at once, and streamed; a cancelled stream is its beginning."""
    assert GOLDEN["streamed"] == GOLDEN["text"]
    assert GOLDEN["streamed chunks"] == str(len(GOLDEN["text"].split()))
    assert GOLDEN["cancelled"] == GOLDEN["text"].split()[0]
