"""Under the switch for the local API: where programs find it, and the token that they need."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dictation import paths
from dictation.settings import Settings
from ui import theme
from ui.widgets import button, side_by_side


class ServerNote(QWidget):
    """The address, and a button that copies the token."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._where = theme.Quiet("")
        self._where.setObjectName("server:where")
        self._copy = button(self.tr("Copy the token"), self._copy_token)
        self._copy.setObjectName("server:copy")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.GAP, 0, 0)
        column.addLayout(side_by_side(self._copy))
        column.addWidget(self._where)
        self.show_settings(settings)

    def show_settings(self, settings: Settings) -> None:
        place = f"http://{settings['server.host']}:{settings['server.port']}"
        text = self.tr("Programs find it at {place}. The token lies in {file}, once it has been switched on.")
        self._where.setText(text.format(place=place, file=paths.token_file()))

    def _copy_token(self) -> None:
        try:
            token = paths.token_file().read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            self._where.setText(self.tr("There is no token yet: switch the local API on first."))
            return
        QGuiApplication.clipboard().setText(token)
