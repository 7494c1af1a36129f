"""The app's icon in every form that a system wants, drawn from resources/icons/sayso.svg.

    python -m shipping.icons build/icons

hicolor/SIZExSIZE/apps/sayso.png and scalable/ for Linux, sayso.ico for Windows, sayso.icns for macOS.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

from PIL import Image

import resources

LINUX_SIZES = (16, 22, 24, 32, 48, 64, 96, 128, 256, 512)
WINDOWS_SIZES = (16, 20, 24, 32, 40, 48, 64, 128, 256)
MAC_SIZES = (16, 32, 64, 128, 256, 512, 1024)
MAC_SHARE = 824 / 1024  # of its square that an icon fills in Apple's grid


def draw(size: int, share: float = 1.0) -> Image.Image:
    """The icon as RGBA of size x size pixels, of which it fills `share` in the middle."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QBuffer, QRectF
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    edge = size * (1 - share) / 2
    QSvgRenderer(str(resources.path("icons/sayso.svg"))).render(painter, QRectF(edge, edge, size * share, size * share))
    painter.end()
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return Image.open(io.BytesIO(buffer.data().data())).convert("RGBA")


def write(folder: Path) -> None:
    """All of them, under `folder`."""
    for size in LINUX_SIZES:
        file = folder / "hicolor" / f"{size}x{size}" / "apps" / "sayso.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        draw(size).save(file, optimize=True)
    scalable = folder / "hicolor" / "scalable" / "apps" / "sayso.svg"
    scalable.parent.mkdir(parents=True, exist_ok=True)
    scalable.write_bytes(resources.path("icons/sayso.svg").read_bytes())
    windows = [draw(size) for size in WINDOWS_SIZES]
    windows[-1].save(folder / "sayso.ico", sizes=[(s, s) for s in WINDOWS_SIZES], append_images=windows[:-1])
    mac = [draw(size, MAC_SHARE) for size in MAC_SIZES]
    mac[-1].save(folder / "sayso.icns", append_images=mac[:-1])


if __name__ == "__main__":
    write(Path(sys.argv[1]))
