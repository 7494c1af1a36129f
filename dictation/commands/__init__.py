"""The sub-commands of `sayso`, one module each; how to add one is said in `dictation/cli.py`."""
