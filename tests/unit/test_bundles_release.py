"""Release names: what they mean, in which order they come, what is refused."""

from __future__ import annotations

import pytest
from litert_build.bundles.release import check_history, name_release, parse_release
from litert_build.errors import BuildError


@pytest.mark.parametrize(
    ("tag", "channel", "kind", "base", "rebuild", "prerelease"),
    [
        ("v0.18.0", "stable", "upstream", "v0.18.0", 0, False),
        ("v0.18.0-2", "stable", "rebuild", "v0.18.0", 2, True),
        ("v0.18.0-native.3", "stable", "rebuild", "v0.18.0", 3, True),
        ("g924e79c91542", "development", "commit", "g924e79c91542", 0, True),
        ("g924e79c91542-12", "development", "rebuild", "g924e79c91542", 12, True),
    ],
)
def test_forms(tag: str, channel: str, kind: str, base: str, rebuild: int, prerelease: bool) -> None:
    name = parse_release(tag)
    assert (name.channel, name.kind, name.base, name.rebuild, name.prerelease) == (channel, kind, base, rebuild, prerelease)


@pytest.mark.parametrize(
    "tag", ["0.18.0", "v0.18", "v0.18.0-0", "v0.18.0-01", "v00.1.0", "v0.18.0-rc1", "g924E79c91542", "g924e79", "", "v0.18.0\n"]
)
def test_other_forms_are_refused(tag: str) -> None:
    with pytest.raises(BuildError, match=r"is no release name\n  -> a release is named vX.Y.Z"):
        parse_release(tag)


def test_a_release_is_of_its_ref() -> None:
    assert name_release("v0.18.0-1", "v0.18.0", upstream=True).rebuild == 1
    assert name_release("sample", "sample", upstream=False).channel == "local"
    with pytest.raises(BuildError, match=r"release v0.17.0 is not a release of v0.18.0\n  -> name it v0.18.0 or v0.18.0-N"):
        name_release("v0.17.0", "v0.18.0", upstream=True)
    with pytest.raises(BuildError, match=r"'v0.18.0-native.2' has the legacy form\n  -> name it v0.18.0-3 or later"):
        name_release("v0.18.0-native.2", "v0.18.0", upstream=True)
    with pytest.raises(BuildError, match=r"'../x' cannot be part of a file name"):
        name_release("../x", "sample", upstream=False)


@pytest.mark.parametrize(
    ("tag", "published"),
    [
        ("v0.18.0", ["v0.17.0-4", "v0.16.1", "nightly"]),
        ("v0.18.0-3", ["v0.18.0", "v0.18.0-native.2"]),
        ("v0.10.0", ["v0.9.0"]),
        ("g924e79c91542", ["v0.18.0", "gaaaaaaaaaaaa-3"]),
        ("g924e79c91542-1", ["g924e79c91542"]),
    ],
)
def test_history_that_goes_on(tag: str, published: list[str]) -> None:
    check_history(parse_release(tag), published)


@pytest.mark.parametrize(
    ("tag", "published", "message"),
    [
        ("v0.18.0", ["v0.18.0"], "release v0.18.0 exists: a published release never changes\n  -> name it v0.18.0-1"),
        ("v0.17.0-9", ["v0.18.0"], "release v0.17.0-9 would go back: v0.18.0 is published\n  -> build v0.18.0 or later"),
        ("v0.9.0", ["v0.10.0"], "would go back: v0.10.0"),
        ("v0.18.0-2", ["v0.18.0-native.2"], "does not count upwards: rebuild 2 of v0.18.0 is published\n  -> name it v0.18.0-3"),
        ("g924e79c91542-1", ["g924e79c91542-2"], "does not count upwards"),
        ("v0.18.0-1", ["v0.18.0-1", "v0.18.0-4"], "exists: .*\n  -> name it v0.18.0-5"),
    ],
)
def test_history_that_does_not(tag: str, published: list[str], message: str) -> None:
    with pytest.raises(BuildError, match=message):
        check_history(parse_release(tag), published)
