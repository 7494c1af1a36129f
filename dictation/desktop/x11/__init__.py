"""The parts of the X11 back-end: windows, selections, typing, hotkeys. Each part has a connection of its own."""
