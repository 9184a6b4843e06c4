"""The hub is a small server on this computer, asked by the real client."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from unhorse.errors import ModelRefused, UsageError
from unhorse.load.model import load_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class _Hub(ThreadingHTTPServer):
    """Serves the files of one folder as the repository ``org/name``."""

    folder: Path
    requested: list[str]

    def files(self) -> dict[str, bytes]:
        paths = [path for path in self.folder.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}


class _Handler(BaseHTTPRequestHandler):
    server: _Hub

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        files = self.server.files()
        if path in ("/api/models/org/name", "/api/models/org/name/revision/v1"):
            siblings = [{"rfilename": name} for name in files]
            self._json({"id": "org/name", "sha": COMMIT, "siblings": siblings})
        elif path == f"/api/models/org/name/tree/{COMMIT}":
            self._json([_entry(name, content) for name, content in files.items()])
        elif path.startswith(f"/org/name/resolve/{COMMIT}/"):
            name = path.rpartition(f"{COMMIT}/")[2]
            self.server.requested.append(name)
            self._answer(200, files[name])
        else:
            self._answer(404, b"{}")

    def _json(self, value: Any) -> None:
        self._answer(200, json.dumps(value).encode(), "application/json")

    def _answer(self, status: int, body: bytes, kind: str = "application/octet-stream") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{hashlib.sha1(body).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def _entry(name: str, content: bytes) -> dict[str, Any]:
    oid = hashlib.sha1(content).hexdigest()
    return {"type": "file", "path": name, "size": len(content), "oid": oid}


@pytest.fixture
def hub(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Hub]:
    server = _Hub(("127.0.0.1", 0), _Handler)
    server.folder, server.requested = folder, []
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(constants, "ENDPOINT", address)
    template = address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("name", ["org/name", "org/name@v1"])
def test_a_hub_model_is_the_model_at_its_commit(
    hub: _Hub, name: str, plain: Path, logits: Any
) -> None:
    for extra in ("pytorch_model.bin", "modeling.py", "README.md", "generation_config.json"):
        (hub.folder / extra).write_bytes(b"x")

    loaded = load_model(name)

    expected = load_model(plain)
    assert loaded.origin.source == name and loaded.origin.revision == COMMIT
    assert loaded.origin.files == expected.origin.files
    assert logits(loaded).equal(logits(expected))
    assert set(hub.requested) == {file.path for file in loaded.origin.files}


def test_shards_are_fetched_from_the_hub(hub: _Hub, save: Any, bert: Any) -> None:
    hub.folder = save(bert, max_shard_size="4KB")
    loaded = load_model("org/name")
    assert len([f for f in loaded.origin.files if f.path.endswith(".safetensors")]) > 1


def test_pickles_on_the_hub_are_refused_without_fetching_them(hub: _Hub) -> None:
    (hub.folder / "model.safetensors").rename(hub.folder / "pytorch_model.bin")
    with pytest.raises(ModelRefused, match=r"pickle.*pytorch_model\.bin"):
        load_model("org/name")
    assert hub.requested == []


def test_a_repository_without_a_config_is_refused(hub: _Hub) -> None:
    (hub.folder / "config.json").unlink()
    with pytest.raises(ModelRefused, match=r"no config\.json"):
        load_model("org/name")
    assert hub.requested == []


def test_the_rules_for_folders_hold_for_the_hub(hub: _Hub, edit: Any) -> None:
    edit(hub.folder / "config.json", auto_map={"AutoConfig": "evil.Evil"})
    with pytest.raises(ModelRefused, match="auto_map"):
        load_model("org/name")


@pytest.mark.parametrize("name", ["org/other", "org/name@v9"])
def test_what_the_hub_does_not_have_is_a_usage_error(hub: _Hub, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be fetched") as failure:
        load_model(name)
    assert "\n" not in str(failure.value)


def test_without_a_connection_the_cache_is_used(hub: _Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_model("org/name@v1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    again = load_model(f"org/name@{COMMIT}")
    assert again.origin.files == first.origin.files
    assert again.origin.revision == COMMIT


def test_without_a_connection_and_cache_it_is_a_usage_error(
    hub: _Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(UsageError, match="cannot be fetched"):
        load_model("org/name")


def test_a_local_folder_comes_before_a_hub_id(
    hub: _Hub, plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "name").symlink_to(plain)
    monkeypatch.chdir(tmp_path)
    assert load_model("org/name").origin.revision is None
    assert hub.requested == []
