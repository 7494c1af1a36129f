"""A running local API: with a real model for what claims a text, with a stand-in for everything else."""

from contextlib import contextmanager

import pytest

from dictation import recogniser
from dictation.server.limits import Limits
from dictation.server.serving import Server
from tests.fakes.caller import Caller
from tests.fakes.dictation import Dictation


@contextmanager
def _served(folder, limits=None, settings=None, **parts):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAYSO_HOME", str(folder / "home"))
        with Dictation(folder, settings, **parts) as dictation:
            server = Server(dictation.loop, port=0, limits=limits)
            try:
                caller = Caller(server.port, (folder / "home" / "config" / "api-token").read_text().strip())
                caller.server, caller.dictation, caller.words = server, dictation, dictation.words
                caller.folder = folder / "home" / "data" / "api"
                yield caller
            finally:
                dictation.words.gate.set()
                server.close()


@pytest.fixture(scope="session")
def api(tmp_path_factory, tiny_en_q8):
    """A caller of a server with Whisper tiny.en."""
    settings = {"recognition.model": str(tiny_en_q8)}
    with _served(tmp_path_factory.mktemp("api"), settings=settings, build=recogniser.build) as caller:
        yield caller


@pytest.fixture
def serve(tmp_path):
    """Makes callers of servers with a stand-in model: `serve(sessions=2)` with other limits."""
    running = []

    def start(settings=None, **limits):
        context = _served(tmp_path / str(len(running)), Limits(**limits), settings)
        running.append(context)
        return context.__enter__()

    yield start
    for context in reversed(running):
        context.__exit__(None, None, None)


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    """A caller of a server with a stand-in model, whose texts say how much audio it heard."""
    with _served(tmp_path_factory.mktemp("fake")) as caller:
        yield caller
