"""The peak memory of a process."""

from __future__ import annotations

from pathlib import Path

__all__ = ("peak_bytes",)


def peak_bytes() -> int:
    """Return the largest resident size of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux ru_maxrss also counts the parent process
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
