"""A schema registry over TLS: its certificate, its name, a login, and a certificate of the client;
what does not fit is refused at once, as it does not pass by waiting."""

import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ontoweir.errors import RunError
from ontoweir.runtime.framed import schema_registry
from ontoweir.runtime.framed.schema_registry import open_registry
from tests.runtime.framed.test_open_frames import READING, opened, stream
from tests.runtime.schema_registry_server import Registry, frame, start_registry

HERE = "subjectAltName=IP:127.0.0.1"


def _certify(folder: Path, name: str, *more: str, sealed: str | None = None) -> tuple[Path, Path]:
    """A certificate that is signed by itself, and its key."""
    key, certificate = folder / f"{name}.key", folder / f"{name}.pem"
    seal = ["-nodes"] if sealed is None else ["-passout", f"pass:{sealed}"]
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-days", "2", *seal, "-keyout"]
    make += [str(key), "-out", str(certificate), "-subj", f"/CN={name}"]
    for extension in more:
        make += ["-addext", extension]
    subprocess.run(make, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return certificate, key


@pytest.fixture(scope="module")
def pems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("NOT TESTED: there is no openssl to make a certificate")
    folder = tmp_path_factory.mktemp("pems")
    _certify(folder, "server", HERE)
    _certify(folder, "elsewhere", "subjectAltName=DNS:registry.example")
    _certify(folder, "client")
    _certify(folder, "sealed", sealed="open-sesame")
    return folder


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def never(seconds: float) -> None:
        raise AssertionError("what does not pass is waited for")

    monkeypatch.setenv("ONTOWEIR_CACHE", "off")
    # The name in the module alone: py4j's threads sleep too.
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=never)
    monkeypatch.setattr(schema_registry, "time", clock)
    yield
    schema_registry._OPEN.clear()


def _serve(pems: Path, name: str, *clients: str) -> AbstractContextManager[Registry]:
    """A registry with a certificate, which asks for those of some clients (none: for none)."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pems / f"{name}.pem", pems / f"{name}.key")
    for client in clients:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(pems / f"{client}.pem")
    return start_registry(context)


def _read(registry: Registry, **more: str) -> Any:
    registry.add(1, READING)
    return opened(registry.url, frame(1, READING, {"id": "a", "n": 3}), **more).values


def test_a_login_over_tls(pems: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PW", "hunter-two")
    ca = str(pems / "server.pem")
    with _serve(pems, "server") as registry:
        assert registry.url.startswith("https://")
        registry.login = "me:hunter-two"
        assert _read(registry, ca=ca, user="me", password="env:PW") == ['{"id":"a","n":3}']
        monkeypatch.setenv("PW", "hunter-three")
        with pytest.raises(RunError, match="it answers 401") as error:
            _read(registry, ca=ca, user="me", password="env:PW")
        assert "hunter" not in str(error.value)
        registry.asked.clear()
        with pytest.raises(RunError, match="certificate verify failed"):  # nobody knows it
            _read(registry, user="me", password="env:PW")
        with pytest.raises(RunError, match="certificate verify failed"):
            _read(registry, ca=str(pems / "client.pem"), user="me", password="env:PW")
        plain = stream(registry.url.replace("https", "http"), user="me", password="env:PW")
        with pytest.raises(RunError, match="cannot be asked"):
            open_registry(plain).probe()
        assert registry.asked == []


def test_the_certificate_is_of_another_name(pems: Path) -> None:
    with _serve(pems, "elsewhere") as registry:
        with pytest.raises(RunError, match="certificate verify failed"):
            _read(registry, ca=str(pems / "elsewhere.pem"))
        assert registry.asked == []


def test_a_certificate_of_the_client(pems: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAL", "open-sesame")
    ca = str(pems / "server.pem")
    mine = {"ca": ca, "certificate": str(pems / "client.pem"), "key": str(pems / "client.key")}
    sealed = {"ca": ca, "certificate": str(pems / "sealed.pem"), "key": str(pems / "sealed.key")}
    with _serve(pems, "server", "client", "sealed") as registry:
        assert _read(registry, **mine) == ['{"id":"a","n":3}']
        assert _read(registry, **sealed, key_password="env:SEAL") == ['{"id":"a","n":3}']
        for wrong in (sealed, {**mine, "key": str(pems / "server.key")}, {**mine, "key": "no.pem"}):
            with pytest.raises(RunError, match="certificates for the schema registry") as error:
                _read(registry, **wrong)
        monkeypatch.setenv("SEAL", "open-barley")
        with pytest.raises(RunError, match="certificates for the schema registry") as error:
            _read(registry, **sealed, key_password="env:SEAL")
        assert "open" not in str(error.value)
        monkeypatch.setattr(schema_registry, "_PAUSES", ())  # TLS 1.3 says so when it is read
        with pytest.raises(RunError, match="cannot be asked"):
            _read(registry, ca=ca)
