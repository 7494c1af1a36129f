"""The version resource of the Windows programs, in PyInstaller's text form."""

from __future__ import annotations

from pathlib import Path

from packaging.version import Version

_TEXT = """VSVersionInfo(
  ffi=FixedFileInfo(filevers={numbers}, prodvers={numbers}, mask=0x3F, flags=0x0, OS=0x40004, fileType=0x1),
  kids=[
    StringFileInfo([StringTable('040904B0', [
      StringStruct('CompanyName', 'The Sayso developers'),
      StringStruct('FileDescription', 'Sayso'),
      StringStruct('FileVersion', '{version}'),
      StringStruct('LegalCopyright', 'MIT licence'),
      StringStruct('ProductName', 'Sayso'),
      StringStruct('ProductVersion', '{version}'),
    ])]),
    VarFileInfo([VarStruct('Translation', [0x0409, 1200])]),
  ],
)
"""


def version_info(version: str) -> str:
    """The resource for a version; Windows wants four numbers, so what follows them ("rc1") is in the texts only."""
    numbers = (*Version(version).release, 0, 0, 0, 0)[:4]
    return _TEXT.format(numbers=numbers, version=version)


def write_version_file(path: Path, version: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(version_info(version), "utf-8")
    return str(path)
