"""Files that travel with Sayso, and where they lie."""

from pathlib import Path

FOLDER = Path(__file__).parent


def path(name: str) -> Path:
    """Path of the bundled file `name` ("sample.wav", "catalog.json"); raises FileNotFoundError if there is none."""
    found = FOLDER / name
    if not found.is_file():
        raise FileNotFoundError(f"Sayso was installed without {name}; install it again.")
    return found
