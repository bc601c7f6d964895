"""Owns the reference of the TFLite test: what PyPI's tflite-runtime, which Bazel built of the same release, computes for a model.

    python tflite_reference.py add.bin multi_add.bin      # in an environment that has tflite-runtime

Prints a JSON object: model to {"inputs": [hex, ...], "outputs": [hex, ...]}, tensors as they lie in memory. Inputs are the same on
every run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy
from tflite_runtime.interpreter import Interpreter, OpResolverType


def sample(random: numpy.random.Generator, shape: tuple[int, ...], dtype: type) -> Any:
    """Return values that fit the type: floats in [-2, 2), all values of a short integer type."""
    if numpy.issubdtype(dtype, numpy.floating):
        return random.uniform(-2, 2, shape).astype(dtype)
    if dtype == numpy.bool_:
        return random.integers(0, 2, shape).astype(dtype)
    if numpy.dtype(dtype).itemsize > 2:
        return random.integers(0, 5, shape).astype(dtype)  # trip counts and indices as well as values
    limits = numpy.iinfo(dtype)
    return random.integers(limits.min, limits.max + 1, shape).astype(dtype)


def run(model: str) -> dict[str, list[str]]:
    # Without the delegate that the package adds by itself: it is XNNPACK, which a build for comparison leaves out.
    interpreter = Interpreter(model, num_threads=1, experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    interpreter.allocate_tensors()
    random = numpy.random.default_rng(20231017)
    inputs = []
    for detail in interpreter.get_input_details():
        value = sample(random, tuple(detail["shape"]), detail["dtype"])
        interpreter.set_tensor(detail["index"], value)
        inputs.append(value.tobytes().hex())
    interpreter.invoke()
    outputs = [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
    return {"inputs": inputs, "outputs": [value.tobytes().hex() for value in outputs]}


if __name__ == "__main__":
    print(json.dumps({Path(model).name: run(model) for model in sys.argv[1:]}))
