"""The app's core: from the microphone to text in the focused window. No Qt, no MLX."""
