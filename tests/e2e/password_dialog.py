"""A Qt window with a password field and an ordinary one, for the accessibility tests. The argument says which."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

app = QApplication([])
window = QWidget()
window.setWindowTitle("fields")
layout = QVBoxLayout(window)
ordinary, password = QLineEdit(), QLineEdit()
password.setEchoMode(QLineEdit.EchoMode.Password)
layout.addWidget(ordinary)
layout.addWidget(password)
(password if sys.argv[1] == "password" else ordinary).setFocus()
window.show()
app.exec()
