"""Owns git sources: resolving a tag to a commit and fetching one commit, without its history.

commit = resolve("https://github.com/google-ai-edge/LiteRT-LM", "v0.19.1", Network())
checkout("https://...", commit, folder, Network(), where="WORKSPACE:12")
"""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from litert_build.errors import BuildError, nearest
from litert_build.sources.commands import run
from litert_build.sources.network import REFS_ASKED, WAYS_ON, Network, Permanent, Transient, redact
from litert_build.sources.store import remove_tree

_FINAL = (
    "not our ref",
    "not found",
    "does not exist",
    "does not appear to be a git repository",
    "no such remote ref",
    "Authentication failed",
)


def resolve(remote: str, ref: str, network: Network) -> str:
    """Return the full commit that a tag, a branch, a commit of 40 digits or g<12 digits> means now.

    Raises BuildError where the remote has no such ref (nearest one named) or a short commit is not the tip of any ref.
    """
    if re.fullmatch(r"[0-9a-f]{40}", ref):
        return ref
    network.refuse_offline(remote, f"the commit of {ref}", REFS_ASKED)
    listing = _git(
        ["ls-remote", "--heads", "--tags", network.rewrite(remote)],
        Path.cwd(),
        remote,
        network,
        "cannot list its tags",
        mend=REFS_ASKED,
    )
    commits: dict[str, str] = {}
    for line in listing.splitlines():
        commit, name = line.split("\t")
        commits[re.sub(r"^refs/(?:heads|tags)/", "", name)] = commit
    if f"{ref}^{{}}" in commits or ref in commits:
        return commits.get(f"{ref}^{{}}", commits.get(ref, ""))
    if short := re.fullmatch(r"g([0-9a-f]{12})", ref):
        tips = {commit for commit in commits.values() if commit.startswith(short.group(1))}
        if len(tips) == 1:
            return tips.pop()
        raise BuildError(f"no branch or tag of {redact(remote)} ends at {ref}", where="ref=", mend="give the full commit with commit=")
    known = [name for name in commits if not name.endswith("^{}")]
    raise BuildError(f"{redact(remote)} has no tag or branch {ref!r}", where="ref=", mend=nearest(ref, known) or "see its list of tags")


def checkout(remote: str, commit: str, folder: Path, network: Network, *, where: str, strip_prefix: str = "") -> None:
    """Fill the empty `folder` with the files of one commit below `strip_prefix` (LFS pointers stay pointers, submodules stay empty).

    Raises BuildError where the commit cannot be fetched, or where a symbolic link of it leads out of the tree.
    """
    network.refuse_offline(remote, f"commit {commit}")
    _git(["init", "--quiet"], folder, where, network, "git init failed")
    fetch = ["-c", "transfer.fsckObjects=true", "fetch", "--quiet", "--no-tags", "--depth=1"]
    _git([*fetch, network.rewrite(remote), commit], folder, where, network, f"cannot fetch {commit} from {redact(remote)}")
    plain = ["-c", "core.autocrlf=false", "-c", "core.symlinks=true"]
    for step in (["read-tree", f"{commit}:{strip_prefix}"], ["checkout-index", "--all", "--force", "--quiet"]):
        _git([*plain, *step], folder, where, network, f"cannot check out {commit}:{strip_prefix}")
    remove_tree(folder / ".git")
    _check_links(folder, where)


def _check_links(folder: Path, where: str) -> None:
    root = folder.resolve()
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent) / name
            if path.is_symlink() and root not in Path(os.path.realpath(path)).parents and path.resolve() != root:
                raise BuildError(f"the link {path.relative_to(folder)} leads out of the tree", where=where, mend="do not use this commit")


def _git(argv: list[str], cwd: Path, where: str, network: Network, what: str, *, mend: str = WAYS_ON) -> str:
    """Run git without prompts and hooks; try again after what looks like a passing fault. The token travels in the environment only."""
    env = {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_ASKPASS": "true", "LC_ALL": "C"}
    if (
        network.token
        and (url := next((text for text in argv if text.startswith("https://")), ""))
        and "Authorization" in network.headers(url)
    ):
        basic = base64.b64encode(f"x-access-token:{network.token}".encode()).decode()
        host = f"https://{urlsplit(url).netloc}/"
        env |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{host}.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: basic {basic}",
        }

    def once(_: str) -> str:
        try:
            return run(
                ["git", "-c", f"core.hooksPath={os.devnull}", *argv], cwd=cwd, where=where, what=what, env=env, timeout=1800, mend=mend
            )
        except BuildError as error:
            text = "\n".join(error.notes)
            if any(word in text for word in _FINAL) or "not installed" in error.what or not ({"fetch", "ls-remote"} & set(argv)):
                raise
            raise Transient(str(error)) from error

    try:
        return network.attempt(what, once)
    except Permanent as error:
        cause = error.__cause__.__cause__ if error.__cause__ else None
        raise cause if isinstance(cause, BuildError) else BuildError(what, where=where) from error
