"""What people see: the tray, the overlay, settings, history. The only package that imports PySide6."""
