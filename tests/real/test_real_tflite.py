"""TensorFlow Lite's C library, built from TensorFlow's own BUILD files into one host library, computes what PyPI's tflite-runtime does.

PyPI's package is the same release built by Bazel. The build takes about 600 CPU seconds; LITERT_LM_REAL=some leaves it out.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock
from litert_build.sources.lock import FileRef, Product, Repository

from tests.real.builds import REPOSITORY, Build, counted
from tests.real.cases import CASES
from tests.real.trees import require

pytestmark = pytest.mark.skipif(os.environ.get("LITERT_LM_REAL") == "some", reason="LITERT_LM_REAL=some: about 600 CPU seconds")

OVERLAY = Path(__file__).parent / "overlays" / "ruy"
REFERENCE = Path(__file__).parent / "tflite_reference.py"
REQUIREMENTS = Path(__file__).parent / "tflite_reference.txt"
MODELS = {
    "testdata": (
        "add", "add_quantized", "add_quantized_int8", "call_once_mul", "lstm", "multi_add", "multi_signatures", "multi_subgraphs_while",
        "nested_while", "sub", "test_model_redux_precision", "unidirectional_sequence_lstm",
    ),
    "tools/optimize/testdata": (
        "argmax", "broadcast_to", "concat", "fc", "fc_qat", "gather_nd", "lstm_calibrated", "lstm_quantized", "maximum", "minimum",
        "mixed16x8", "pack", "quantized_with_gather", "resource_vars_calibrated", "single_avg_pool_min_minus_5_max_plus_5",
        "single_conv_weights_min_0_max_plus_10", "single_softmax_min_minus_5_max_plus_5", "split",
        "unidirectional_sequence_lstm_quantized", "weight_shared_between_convs", "where",
    ),
    "python/optimize/test_data": ("mobilenet_like_model",),
    "python/testdata": ("pc_conv",),
    "java/src/testdata": ("int64", "uint8"),
}  # fmt: skip
# All other outputs are the package's bit for bit. The BUILD files ask for -msse4.2, with which TFLite takes its NEON code through an
# emulation; the package was compiled without. Dequantization then rounds twice, and a depthwise convolution's output, a multiple of
# 0.00475, may fall on the next one: with TF_LITE_DISABLE_X86_NEON in two units pc_conv is the same bit for bit. The other two differ by
# one unit in the last place, in functions of Eigen, which is 3.4.0 here and a later commit there.
TOLERANCE = {"pc_conv": 0.004754, "single_softmax_min_minus_5_max_plus_5": 6e-8, "unidirectional_sequence_lstm": 6e-8}


def tflite(folder: Path) -> Build:
    """Return the build of the C library. The root is TensorFlow's own: a filegroup of its shared library, whose place the host takes.

    The tree holds three headers that flatc makes as well (schema_generated.h, conversion_metadata_generated.h in lite/schema,
    configuration_generated.h): sources are looked through first, so compiles read the tree's, which differ in a comment alone.
    Strict headers would refuse that.
    """
    overlay = {path.relative_to(OVERLAY).as_posix(): FileRef(path=path) for path in sorted(OVERLAY.rglob("*")) if path.is_file()}
    return Build(
        CASES["tflite"],
        folder,
        ("//tensorflow/lite/c:tensorflowlite_c",),
        Product("host", "libtensorflowlite_c.so", ("TfLiteInterpreterInvoke",), ("TfLite*",)),
        (Repository("ruy", require("ruy"), link_files=overlay),),
        headers="warn",
    )


class TfLite:
    """The few functions of the C API that run a model, over ctypes."""

    def __init__(self, library: Path) -> None:
        self.library = ctypes.CDLL(str(library))

    def call(self, name: str, *arguments: object) -> int:
        """Call a function that returns a status, and hold it to kTfLiteOk."""
        status = getattr(self.library, name)(*arguments)
        assert status == 0, f"{name} returned {status}"
        return status

    def pointer(self, name: str, *arguments: object) -> ctypes.c_void_p:
        function = getattr(self.library, name)
        function.restype = ctypes.c_void_p
        found = function(*arguments)
        assert found, f"{name} returned no object"
        return ctypes.c_void_p(found)

    def run(self, model: Path, inputs: list[bytes]) -> list[bytes]:
        """Return the outputs of `model`, as they lie in memory."""
        loaded = self.pointer("TfLiteModelCreateFromFile", str(model).encode())
        options = self.pointer("TfLiteInterpreterOptionsCreate")
        self.library.TfLiteInterpreterOptionsSetNumThreads(options, 1)
        interpreter = self.pointer("TfLiteInterpreterCreate", loaded, options)
        self.call("TfLiteInterpreterAllocateTensors", interpreter)
        for index, content in enumerate(inputs):
            tensor = self.pointer("TfLiteInterpreterGetInputTensor", interpreter, index)
            self.call("TfLiteTensorCopyFromBuffer", tensor, content, ctypes.c_size_t(len(content)))
        self.call("TfLiteInterpreterInvoke", interpreter)
        outputs = [self._output(interpreter, index) for index in range(self.library.TfLiteInterpreterGetOutputTensorCount(interpreter))]
        self.library.TfLiteInterpreterDelete(interpreter)
        self.library.TfLiteInterpreterOptionsDelete(options)
        self.library.TfLiteModelDelete(loaded)
        return outputs

    def _output(self, interpreter: ctypes.c_void_p, index: int) -> bytes:
        tensor = self.pointer("TfLiteInterpreterGetOutputTensor", interpreter, index)
        self.library.TfLiteTensorByteSize.restype = ctypes.c_size_t
        buffer = ctypes.create_string_buffer(self.library.TfLiteTensorByteSize(tensor))
        self.call("TfLiteTensorCopyToBuffer", tensor, buffer, ctypes.c_size_t(len(buffer)))
        return buffer.raw


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the workers of one run of pytest-xdist share."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "tflite-shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def library(shared: Path) -> Path:
    with FileLock(shared / "library.lock"):
        build = tflite(shared)
        build.scons("host")
        second = build.scons("host", "verbose=yes")
    assert counted(second, "actions run") == 0, second
    return build.bin / "host" / "libtensorflowlite_c.so"


@pytest.fixture(scope="module")
def reference(library: Path, shared: Path) -> dict[str, dict[str, list[str]]]:
    """What tflite-runtime computes for all models, which need Python 3.11 and an older numpy than ours."""
    if sys.version_info[:2] != (3, 11):
        pytest.skip("PyPI's tflite-runtime 2.14.0 is for Python 3.11")
    home = REPOSITORY / ".cache" / "tflite-runtime"
    python = home / "bin" / "python"
    with FileLock(shared / "reference.lock"):
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "--require-hashes", "-r", str(REQUIREMENTS)], check=True)
    models = [str(models_folder() / folder / f"{name}.bin") for folder, names in MODELS.items() for name in names]
    printed = subprocess.run([str(python), str(REFERENCE), *models], check=True, capture_output=True, text=True).stdout
    return dict(json.loads(printed))


def floats(content: bytes) -> tuple[float, ...]:
    return struct.unpack(f"{len(content) // 4}f", content)


def models_folder() -> Path:
    return require("tensorflow-2.14.1") / "tensorflow" / "lite"


def test_three_times_the_input(library: Path) -> None:
    """add.bin adds its input twice to itself."""
    values = struct.pack("192f", *[1.5] * 192)
    (output,) = TfLite(library).run(models_folder() / "testdata" / "add.bin", [values])
    assert struct.unpack("192f", output) == (4.5,) * 192


@pytest.mark.parametrize("model", [f"{folder}/{name}.bin" for folder, names in MODELS.items() for name in names])
def test_outputs_are_those_of_the_package(library: Path, reference: dict[str, dict[str, list[str]]], model: str) -> None:
    expected = reference[Path(model).name]
    inputs = [bytes.fromhex(content) for content in expected["inputs"]]
    outputs = TfLite(library).run(models_folder() / model, inputs)
    tolerance = TOLERANCE.get(Path(model).stem)
    if tolerance is None:
        assert [output.hex() for output in outputs] == expected["outputs"]
        return
    for output, other in zip(outputs, expected["outputs"], strict=True):
        assert floats(output) == pytest.approx(floats(bytes.fromhex(other)), rel=0, abs=tolerance)


def test_only_the_c_api_is_exported(library: Path) -> None:
    listing = subprocess.run(["nm", "-D", "--defined-only", str(library)], check=True, capture_output=True, text=True).stdout
    names = {line.split()[-1] for line in listing.splitlines()}
    assert "TfLiteInterpreterInvoke" in names
    assert not [name for name in names if not name.startswith("TfLite")]


def test_what_is_no_model_is_refused(library: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.bin").write_bytes(b"")
    with pytest.raises(AssertionError, match="TfLiteModelCreateFromFile returned no object"):
        TfLite(library).run(tmp_path / "empty.bin", [])
