"""What is written about the API is so: examples run, the OpenAPI document is the code's, nothing contradicts it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import soundfile

from dictation.server import openapi
from dictation.server.faults import Fault
from dictation.server.routes import ROUTES
from tests.fakes import sounds

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
EXAMPLES = [text for text in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) if "curl" in text]


@pytest.mark.parametrize("example", EXAMPLES, ids=[f"example {n}" for n in range(len(EXAMPLES))])
def test_the_examples_of_the_page_run_as_they_stand(api, tmp_path, example):
    soundfile.write(tmp_path / "clip.wav", sounds.clip("en/jfk"), 16_000, subtype="PCM_16")
    done = subprocess.run(
        ["sh", "-ec", example],
        cwd=tmp_path,
        env=os.environ | {"SAYSO": f"http://127.0.0.1:{api.port}", "TOKEN": api.token},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert '"error"' not in done.stdout
    if "clip.wav" in example:
        assert ("COMPUTER" if "upper_case" in example else "country") in done.stdout
    if "/sessions" in example:
        assert "event: final" in done.stdout
    if "[]=word" in example:
        assert json.loads(done.stdout)["words"]
    if "metrics" in example:
        assert "sayso_requests_total" in done.stdout and "country" not in done.stdout


def test_there_is_an_example_for_every_kind_of_work():
    assert len(EXAMPLES) >= 8 and shutil.which("curl")
    for place in ("transcriptions", "dictate", "sessions", "finish", "events", "health", "metrics"):
        assert any(place in example for example in EXAMPLES)


def test_the_document_in_docs_is_the_one_that_is_served(fake):
    written = (ROOT / "docs" / "openapi.json").read_text(encoding="utf-8")
    assert written == openapi.text(), "python -m dictation.server.openapi > docs/openapi.json"
    assert fake.get("/openapi.json").json == json.loads(written)


def test_every_address_and_every_code_is_in_the_page():
    for route in ROUTES:
        assert route.path in PAGE or route.path == "/v1/models/{model}", route.path
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "dictation" / "server").glob("*.py"))
    codes = set(re.findall(r'(?:Fault\(\d+, |fail\()"([a-z_]+)"', source)) - {"gone"}
    assert len(codes) > 20 and not {code for code in codes if f"`{code}`" not in PAGE}
    assert issubclass(Fault, Exception)


def test_schemathesis_finds_nothing_at_the_edges_of_every_field(serve, tmp_path):
    check(serve(idle_s=1.0), tmp_path, "--phases", "coverage")


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_schemathesis_finds_nothing_in_long_random_use(serve, tmp_path):
    check(serve(idle_s=1.0), tmp_path, "--phases", "coverage,fuzzing,stateful", "--max-examples", "100")


def check(fake, folder, *wanted):
    """Let schemathesis look for answers that contradict the document."""
    here = Path(__file__).parent
    place = f"http://127.0.0.1:{fake.port}/openapi.json"
    command = [
        Path(sys.executable).with_name("schemathesis"),
        "--config-file",
        here / "schemathesis.toml",
        "run",
        place,
    ]
    command += [
        "--header",
        f"Authorization: Bearer {fake.token}",
        "--seed",
        "1",
        "--generation-database",
        "none",
        *wanted,
    ]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"SCHEMATHESIS_HOOKS": "tests.dictation.server.schemathesis_hooks", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    lines = [line[:200] for line in done.stdout.decode(errors="replace").splitlines() if "curl" not in line]
    assert done.returncode == 0, "\n".join(lines[-80:])
