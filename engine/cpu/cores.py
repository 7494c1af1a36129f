"""How many threads a model should use: physical cores, of those this process may run on."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path


def physical_cores() -> int:
    """At least 1. A core's second hardware thread adds nothing to arithmetic that keeps its units busy."""
    system = platform.system()  # not sys.platform: mypy would check one system's branch only
    if system == "Linux":
        return max(1, len({_siblings(cpu) for cpu in os.sched_getaffinity(0)}))
    if system == "Darwin":
        for name in ("hw.perflevel0.physicalcpu", "hw.physicalcpu"):  # performance cores, else all
            result = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, check=False)
            if result.returncode == 0 and result.stdout.strip().isdigit():
                return max(1, int(result.stdout))
    n = os.cpu_count() or 1
    # On Windows, x86 processors mostly have two hardware threads per core
    return max(1, n // 2 if system == "Windows" and n > 2 else n)


def _siblings(cpu: int) -> str:
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return path.read_text().strip()
    except OSError:
        return str(cpu)
