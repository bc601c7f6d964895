"""Owns the software bill of materials, CycloneDX 1.6 as JSON: the host, and each component with version, licence and digest.

text = sbom(parts, host="libLiteRtLm.so", digest="...", version="v0.18.0", epoch=0)

cyclonedx-python-lib writes it. Number and date come from the inputs, so that the same bundle has the same bytes.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime, timezone

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component as Entry
from cyclonedx.model.component import ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from litert_build.bundles.components import Component, components_digest
from litert_build.bundles.layout import PACKAGE


def sbom(parts: Iterable[Component], *, host: str, digest: str, version: str, epoch: int) -> str:
    """Return the bill of materials of a bundle whose host has `digest`."""
    parts = list(parts)
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"{PACKAGE}:{digest}:{components_digest(parts)}"))
    bom.metadata.timestamp = datetime.fromtimestamp(epoch, timezone.utc)
    root = Entry(name=host, version=version, type=ComponentType.LIBRARY, bom_ref=host, hashes=[_hash(digest)])
    bom.metadata.component = root
    entries = [_entry(part) for part in parts]
    for entry in entries:
        bom.components.add(entry)
    bom.register_dependency(root, entries)
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def _hash(digest: str) -> HashType:
    return HashType(alg=HashAlgorithm.SHA_256, content=digest)


def _entry(part: Component) -> Entry:
    entry = Entry(
        name=part.name,
        version=part.version,
        type=ComponentType.LIBRARY,
        bom_ref=f"{part.kind}:{part.name}@{part.version}",
        hashes=[_hash(part.sha256)],
        licenses=[LicenseFactory().make_from_string(part.licence)],
        purl=PackageURL("cargo", None, part.name, part.version) if part.kind == "crate" else None,
        properties=[Property(name=f"{PACKAGE}:kind", value=part.kind)],
    )
    if part.commit:
        entry.properties.add(Property(name=f"{PACKAGE}:commit", value=part.commit))
    if part.url:
        kind = ExternalReferenceType.DISTRIBUTION if part.kind == "repository" else ExternalReferenceType.WEBSITE
        entry.external_references.add(ExternalReference(type=kind, url=XsUri(part.url)))
    return entry
