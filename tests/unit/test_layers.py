"""The layers of docs/architecture.md hold: who may import whom."""

import ast
from pathlib import Path

import pytest

MODEL = Path(__file__).parents[2] / "site_scons" / "litert_build"

# A layer of the model and the layers it must not know.
FORBIDDEN = {
    "starlark": ("bazel", "toolchains", "binaries", "checks", "bundles", "incremental", "sources", "policy", "job"),
    "binaries": ("bazel", "starlark", "toolchains", "checks", "bundles", "incremental", "sources", "job"),
    "checks": ("bazel", "starlark", "toolchains", "incremental", "bundles", "job"),
    "bazel": ("binaries", "checks", "bundles", "incremental", "job"),
    "toolchains": ("bazel", "starlark", "binaries", "checks", "bundles", "incremental", "job"),
}


def imports(file: Path) -> set[str]:
    """Return the dotted names that a file imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def violations(root: Path, forbidden: tuple[str, ...]) -> list[str]:
    return [
        f"{file.relative_to(root)} imports {name}"
        for file in sorted(root.rglob("*.py"))
        for name in sorted(imports(file))
        if any(name == bad or name.startswith(bad + ".") for bad in forbidden)
    ]


def test_the_model_never_imports_scons():
    assert violations(MODEL, ("SCons",)) == []


@pytest.mark.parametrize("layer", sorted(FORBIDDEN))
def test_layers_look_downwards_only(layer):
    assert violations(MODEL / layer, tuple(f"litert_build.{name}" for name in FORBIDDEN[layer])) == []


def test_a_broken_layer_is_found(tmp_path):
    (tmp_path / "late.py").write_text("def f():\n    from SCons.Script import Exit\n")
    assert violations(tmp_path, ("SCons",)) == ["late.py imports SCons.Script"]
