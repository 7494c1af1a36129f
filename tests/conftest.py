"""Settings of the whole test suite."""

from hypothesis import settings

# Other work shares the machine: a slow example is no fault.
settings.register_profile("sayso", deadline=None)
settings.load_profile("sayso")
