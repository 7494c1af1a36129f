"""The Whisper runtime: audio in, words out. No Qt, no microphone, no settings, no rules about the user's text."""
