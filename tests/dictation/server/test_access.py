"""Who may use the API: programs that can read the token file, and no web page, by whatever trick."""

import os
import stat

import pytest

from dictation.server.access import TokenError, is_loopback, read_token


def test_the_token_is_made_once_and_only_its_owner_can_read_it(tmp_path):
    file = tmp_path / "config" / "api-token"
    token = read_token(file)
    assert len(token) >= 40 and read_token(file) == token
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("text", ["", "short", "with a space in it, and long", "x" * 20 + "\0", "ä" * 20])
def test_a_token_file_without_a_token_is_refused(tmp_path, text):
    file = tmp_path / "api-token"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(TokenError, match="Delete"):
        read_token(file)


def test_a_token_file_that_is_no_file_is_refused_at_once(tmp_path):
    (tmp_path / "folder").mkdir(mode=0o700)
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("folder", "pipe"):
        with pytest.raises(TokenError, match="no file"):
            read_token(tmp_path / name)


def test_a_token_that_others_may_read_or_that_lies_elsewhere_is_refused(tmp_path):
    file = tmp_path / "api-token"
    read_token(file)
    file.chmod(0o644)
    with pytest.raises(TokenError, match="Others may read"):
        read_token(file)
    file.chmod(0o600)
    os.symlink(file, tmp_path / "link")
    with pytest.raises(TokenError, match=r"it is a link\). Delete it"):
        read_token(tmp_path / "link")


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Basic {token}",
        "{token}",
        "Bearer {token}x",
        "Bearer {short}",
        "Bearer ä",
    ],
)
@pytest.mark.parametrize("path", ["/v1/models", "/metrics", "/openapi.json", "/sessions/x", "/nothing-here"])
def test_without_the_token_there_is_nothing(fake, header, path):
    value = header.format(token=fake.token, short=fake.token[:-1])
    answer = fake.get(path, token=False, headers={"Authorization": value.encode()} if value else {})
    assert (answer.status, answer.code) == (401, "wrong_token")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_health_needs_no_token_and_says_nothing_about_the_user(fake):
    answer = fake.get("/health", token=False)
    assert answer.status == 200 and set(answer.json) == {"status", "version", "model", "model_status", "model_note"}


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0",
     "192.168.1.5", "127.0.0.1@evil.example", "evil.example#127.0.0.1", "[::1].evil.example",
     "", "127.0.0.1:", "\uff1127.0.0.1"],
)  # fmt: skip
def test_a_name_that_was_rebound_to_this_computer_is_refused(fake, host):
    answer = fake.get("/health", headers={"Host": host.format(port=fake.port).encode()})
    assert (answer.status, answer.code) == (421, "wrong_host")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:7296", "LOCALHOST", "[::1]:80", "127.3.2.1"])
def test_this_computers_own_names_are_taken(fake, host):
    assert fake.get("/health", headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:7296"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/health"), ("POST", "/sessions"), ("OPTIONS", "/dictate")])
def test_web_pages_are_refused_even_with_the_token(fake, method, path, headers):
    answer = fake.call(method, path, headers=headers)
    assert (answer.status, answer.code) == (403, "web_page")
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_two_hosts_or_none_are_refused(fake):
    for hosts in ("", "Host: 127.0.0.1\r\nHost: evil.example\r\n"):
        assert fake.raw(f"GET /health HTTP/1.1\r\n{hosts}\r\n".encode()).startswith(b"HTTP/1.1 400 ")


def test_a_web_socket_is_refused_with_a_reason_before_it_opens(fake):
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    for path, headers, status in (
        ("/sessions/socket", {}, 401),
        ("/sessions/socket", fake.headers | {"Origin": "https://evil.example"}, 403),
        ("/dictate", fake.headers, 404),
    ):
        place = f"ws://127.0.0.1:{fake.port}{path}"
        with pytest.raises(InvalidStatus) as refused, connect(place, additional_headers=headers):
            pass
        assert refused.value.response.status_code == status and b'"error"' in refused.value.response.body


@pytest.mark.parametrize(
    ("host", "is_own"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False)]
)
def test_loopback_is_known(host, is_own):
    assert is_loopback(host) is is_own
