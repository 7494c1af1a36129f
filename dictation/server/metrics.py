"""Numbers for Prometheus: how much, how long, how many. Never a text, a file name or a token."""

from __future__ import annotations

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class Metrics:
    """One server's numbers, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.requests = Counter("sayso_requests", "Requests answered.", ("route", "status"), registry=registry)
        self.request_seconds = Histogram(
            "sayso_request_seconds", "From a request to its answer.", ("route",), buckets=_SECONDS, registry=registry
        )
        self.audio_seconds = Counter("sayso_audio_seconds", "Audio taken in.", ("kind",), registry=registry)
        self.recognised = Counter(
            "sayso_recognised", "Recognitions by outcome.", ("kind", "outcome"), registry=registry
        )
        self.wait_seconds = Histogram(
            "sayso_final_seconds",
            "From the end of the audio to its text.",
            ("kind",),
            buckets=_SECONDS,
            registry=registry,
        )
        self.recordings = Gauge("sayso_recordings", "Whole recordings waiting or being recognised.", registry=registry)
        self.sessions = Gauge("sayso_sessions", "Sessions that take audio.", registry=registry)
        self.partials_dropped = Counter(
            "sayso_partials_dropped",
            "Partial texts that a newer one overtook before anybody read them.",
            registry=registry,
        )

    def text(self) -> bytes:
        """The exposition format of `CONTENT_TYPE`."""
        return generate_latest(self.registry)
