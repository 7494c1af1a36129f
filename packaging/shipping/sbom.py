"""The parts of a self-contained build as a CycloneDX 1.6 bill of materials.

python -m shipping.sbom build/inventory.json dist/sayso.cdx.json
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shipping.inventory import Part, read
from shipping.notices import name_of_licence


def bill(parts: Iterable[Part]) -> dict[str, Any]:
    """The document; the same parts always give the same one."""
    listed = list(parts)
    sayso = next(part for part in listed if part.kind == "sayso")
    told = json.dumps([(part.kind, part.name, part.version) for part in listed])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, told).urn,
        "version": 1,
        "metadata": {"component": _component(sayso, "application")},
        "components": [_component(part, "library") for part in listed if part.kind != "sayso"],
    }


def _component(part: Part, kind: str) -> dict[str, Any]:
    component: dict[str, Any] = {"type": kind, "name": part.name, "version": part.version}
    if part.kind != "debian":
        component["licenses"] = [{"license": {"name": name_of_licence(part)}}]
    where = {"pypi": "pypi", "sayso": "pypi", "debian": "deb/debian", "python": "generic"}[part.kind]
    component["purl"] = component["bom-ref"] = f"pkg:{where}/{part.name}@{part.version.replace('+', '%2B')}"
    return component


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(bill(read(Path(sys.argv[1]))), indent=1), "utf-8")
