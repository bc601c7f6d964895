"""Owns the hooks that sign and verify SHA256SUMS, which names every other file. Off unless the environment asks for them.

sign(Path("SHA256SUMS"))        # with LITERT_LM_SIGN=minisign and LITERT_LM_SIGN_KEY=secret.key: writes SHA256SUMS.minisig

    LITERT_LM_SIGN=minisign     LITERT_LM_SIGN_KEY=<secret key file>
    LITERT_LM_SIGN=sigstore     the ambient identity of the CI job
    LITERT_LM_VERIFY=minisign   LITERT_LM_VERIFY_KEY=<public key file>
    LITERT_LM_VERIFY=sigstore   LITERT_LM_VERIFY_IDENTITY=<certificate identity> LITERT_LM_VERIFY_ISSUER=<OIDC issuer>
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from litert_build.errors import BuildError

_SUFFIXES = {"minisign": ".minisig", "sigstore": ".sigstore.json"}
SIGNATURES = tuple(_SUFFIXES.values())
_INSTALL = {"minisign": "apt-get install minisign", "sigstore": "pip install sigstore"}


def sign(sums: Path, environ: Mapping[str, str] = os.environ) -> Path | None:
    """Sign `sums` as the environment asks, and return the signature; None where it asks for nothing.

    Raises BuildError for an unknown method, a missing tool or setting, and where the tool fails; no signature is left then.
    """
    method = _method("LITERT_LM_SIGN", environ)
    if method is None:
        return None
    signature = sums.with_name(sums.name + _SUFFIXES[method])
    signature.unlink(missing_ok=True)
    if method == "minisign":
        argv = ["minisign", "-S", "-s", _setting("LITERT_LM_SIGN_KEY", environ), "-x", str(signature), "-m", str(sums)]
    else:
        argv = ["sigstore", "sign", "--bundle", str(signature), str(sums)]
    _run(argv, method, f"cannot sign {sums.name}", environ)
    return signature


def verify_signature(sums: Path, environ: Mapping[str, str] = os.environ) -> str | None:
    """Verify the signature of `sums` as the environment asks, and return what was shown; None where it asks for nothing.

    Raises BuildError where the signature is absent or wrong, or cannot be judged.
    """
    method = _method("LITERT_LM_VERIFY", environ)
    if method is None:
        return None
    signature = sums.with_name(sums.name + _SUFFIXES[method])
    if not signature.exists():
        raise BuildError(f"{sums.name} is not signed", where=str(signature), mend="fetch the signature, or unset LITERT_LM_VERIFY")
    if method == "minisign":
        argv = ["minisign", "-V", "-p", _setting("LITERT_LM_VERIFY_KEY", environ), "-x", str(signature), "-m", str(sums)]
    else:
        identity, issuer = (_setting(f"LITERT_LM_VERIFY_{name}", environ) for name in ("IDENTITY", "ISSUER"))
        argv = [
            "sigstore",
            "verify",
            "identity",
            "--bundle",
            str(signature),
            "--cert-identity",
            identity,
            "--cert-oidc-issuer",
            issuer,
            str(sums),
        ]
    _run(argv, method, f"the signature of {sums.name} does not verify", environ)
    return f"signature: {signature.name}"


def _method(variable: str, environ: Mapping[str, str]) -> str | None:
    method = environ.get(variable, "")
    if method and method not in _SUFFIXES:
        raise BuildError(f"unknown method {method!r}", where=variable, mend=f"one of {', '.join(_SUFFIXES)}, or unset it")
    return method or None


def _setting(variable: str, environ: Mapping[str, str]) -> str:
    if not environ.get(variable):
        raise BuildError("is not set", where=variable, mend="docs/bundles.md says what signing needs")
    return environ[variable]


def _run(argv: list[str], method: str, failure: str, environ: Mapping[str, str]) -> None:
    if shutil.which(argv[0], path=environ.get("PATH")) is None:
        raise BuildError(f"{argv[0]} is not installed", where=failure, mend=_INSTALL[method])
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=dict(environ))
    if done.returncode:
        raise BuildError(
            failure, where=" ".join(argv), notes=[*done.stdout.splitlines(), *done.stderr.splitlines()], mend="see what the tool says"
        )
