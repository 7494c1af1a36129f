"""The parts of the Wayland back-end: compositors that tell about windows, programs that type, the shortcuts portal."""
