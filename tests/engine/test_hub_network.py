"""Pulls through what stands between people and the Hub: company proxies, certificates of their own, mirrors.

Each runs in a process of its own, because the Hub's client reads the environment once.
"""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from tests.engine.test_hub import NAME, REPO, model_bytes
from tests.fakes import proxy as proxies
from tests.fakes.hub_server import Hub, serve
from tests.fakes.proxy import Proxy
from tests.shell import ROOT

PULL = f"""
from engine import hub
from engine.errors import HubError
try:
    (file,) = hub.list_files({REPO!r})
    print(hub.pull(file, stall_s=5, pause_s=lambda s: None).outcome)
except HubError as error:
    print(f"{{type(error).__name__}}: {{error}}")
"""


def pull(home: Path, **environment: str) -> str:
    """What a pull of the only model says, in a process with this environment and no other settings of the network."""
    plain = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    plain |= {"HF_HOME": str(home), "PYTHONPATH": str(ROOT)} | environment
    command = [sys.executable, "-c", PULL]
    done = subprocess.run(command, env=plain, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "hf_secret" not in done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with proxies.serve() as state:
        yield state


@pytest.fixture
def server() -> Iterator[Hub]:
    with serve() as state:
        state.add(REPO, NAME, model_bytes())
        yield state


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls_server(authority: trustme.CA) -> Iterator[Hub]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost", "hub.test").configure_cert(context)
    with serve(context) as state:
        state.add(REPO, NAME, model_bytes())
        yield state


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    authority.cert_pem.write_to_path(str(tmp_path / "company-ca.pem"))
    return str(tmp_path / "company-ca.pem")


def test_a_proxy_carries_the_questions_and_the_bytes(server: Hub, proxy: Proxy, tmp_path: Path) -> None:
    assert pull(tmp_path, HF_ENDPOINT=server.url, HTTP_PROXY=proxy.url) == "installed"
    asked = {(verb, url.split("/")[3]) for verb, url in proxy.requests}
    assert ("GET", "api") in asked and ("GET", "cdn") in asked
    assert len(proxy.requests) >= len(server.requests), "something went past the proxy"


def test_what_the_proxy_need_not_carry_goes_past_it(server: Hub, proxy: Proxy, tmp_path: Path) -> None:
    environment = {"HF_ENDPOINT": server.url, "HTTP_PROXY": proxy.url, "NO_PROXY": "127.0.0.1,localhost"}
    assert pull(tmp_path, **environment) == "installed"
    assert proxy.requests == []


def test_a_proxy_that_refuses_or_is_not_there_is_said(server: Hub, proxy: Proxy, tmp_path: Path) -> None:
    proxy.refuses = 407
    assert "407" in pull(tmp_path, HF_ENDPOINT=server.url, HTTP_PROXY=proxy.url)
    gone = pull(tmp_path, HF_ENDPOINT=server.url, HTTP_PROXY="http://127.0.0.1:9")
    assert gone.startswith("OfflineError: ") and server.requests == []


def test_a_tunnel_through_the_proxy_with_the_company_s_certificate(
    tls_server: Hub, proxy: Proxy, ca_file: str, tmp_path: Path
) -> None:
    proxy.tunnels_to = ("127.0.0.1", tls_server.port)
    environment = {"HF_ENDPOINT": f"https://hub.test:{tls_server.port}", "HTTPS_PROXY": proxy.url}
    assert pull(tmp_path, SSL_CERT_FILE=ca_file, **environment) == "installed"
    assert {verb for verb, _ in proxy.requests} == {"CONNECT"}
    proxy.refuses = 407
    assert "proxy" in pull(tmp_path / "again", SSL_CERT_FILE=ca_file, **environment)


def test_a_certificate_of_ones_own_is_trusted_when_named_and_only_then(
    tls_server: Hub, ca_file: str, tmp_path: Path
) -> None:
    environment = {"HF_ENDPOINT": tls_server.url}
    refused = pull(tmp_path, **environment)
    assert refused.startswith("OfflineError: ") and "SSL_CERT_FILE" in refused
    assert tls_server.requests == []
    assert pull(tmp_path, SSL_CERT_FILE=ca_file, HF_TOKEN="hf_secret", **environment) == "installed"
