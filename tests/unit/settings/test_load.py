"""`load`: a configuration that can be run, or every reason why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.memory.settings import MemoryChannel, MemoryEndpoint
from adapters.stomp.settings import StompChannel, StompEndpoint
from gateway.settings import Settings, SettingsError, check, load
from gateway.settings.rules import ConstantRule, RenameRule
from tests.unit.settings.marked import VALID


@pytest.fixture
def valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SECRET", "hunter2")
    path = tmp_path / "isthmus.yaml"
    path.write_text(VALID)
    return path


def test_what_is_written_is_what_comes(valid: Path) -> None:
    settings = load(valid)
    assert isinstance(settings, Settings)
    assert settings.name == "nms-bridge"
    broker, memory = settings.endpoints["broker"], settings.endpoints["memory"]
    assert isinstance(broker, StompEndpoint)
    assert broker.hosts == ["127.0.0.1:61613"]
    assert broker.password is not None
    assert broker.password.get_secret_value() == "hunter2"
    assert isinstance(memory, MemoryEndpoint)
    assert settings.channels["audit"] == MemoryChannel(endpoint="memory", name="audit", form="message")
    assert isinstance(settings.channels["jms-alarms"], StompChannel)
    alarms = settings.links["alarms"]
    assert (alarms.source, alarms.sink) == ("ems-alarms", "jms-alarms")
    assert alarms.rules == [RenameRule(rename="$h", to="severity"), ConstantRule(constant="site", value="zurich")]
    assert (alarms.delivery.window, alarms.delivery.batch) == (500, 100)
    assert (alarms.delivery.retry.back_off.first_ms, alarms.delivery.retry.back_off.longest_ms) == (100, 30_000)
    assert settings.links["audit"].enabled is False


def test_a_path_may_be_text(valid: Path) -> None:
    assert load(str(valid)) == load(valid)


def test_dead_letters_are_in_run_dir(valid: Path) -> None:
    assert load(valid).dead_letter_path("alarms") == Path("run/dead-letters/alarms.jsonl")


def test_warnings_and_notes_keep_nobody_from_running(valid: Path) -> None:
    valid.write_text(VALID.replace('admin: {listen: "127.0.0.1:8161"}', 'admin: {listen: "0.0.0.0:8161"}'))
    assert {finding.severity for finding in check(valid)} == {"warning", "note"}
    assert load(valid).admin is not None


def test_all_errors_are_in_the_error(valid: Path) -> None:
    valid.write_text(VALID.replace("to: audit", "to: nowhere").replace("cycles: forbid", "cycles: never"))
    with pytest.raises(SettingsError) as raised:
        load(valid)
    error = raised.value
    assert error.code == "CFG-INVALID"
    assert [finding.code for finding in error.errors] == ["CFG-VALUE", "CFG-UNKNOWN-CHANNEL"]
    assert {finding.code for finding in error.findings} > {finding.code for finding in error.errors}
    for finding in error.errors:
        assert f"{valid}:{finding.line}:{finding.column}: error {finding.code}: " in str(error)


def test_settings_cannot_be_changed(valid: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        load(valid).name = "other"  # type: ignore[misc]
