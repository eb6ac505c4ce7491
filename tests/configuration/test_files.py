"""Settings in `perch.toml`: the environment overrides them, and a wrong file is refused with one line."""

from pathlib import Path

import pytest

from store.settings import Settings
from store.settings.declaring import SettingError
from store.settings.files import load
from tests.support.servers.processes import run

EXAMPLE = """
port = 9000
rate_limit = 0
repost_lift_hours = 6.5
run_worker = false
cors_origins = ["https://a.example", "https://b.example"]
data_dir = "elsewhere"
mail_from = ""
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "perch.toml"
    path.write_text(EXAMPLE)
    return path


def test_values(file: Path) -> None:
    """A file gives values of every type; the environment overrides them, and an empty variable does not."""
    settings = load({"PERCH_CONFIG": str(file), "PORT": "9001", "RATE_LIMIT": ""})
    assert (settings.port, settings.rate_limit, settings.repost_lift_hours, settings.run_worker) == (
        9001,
        0,
        6.5,
        False,
    )
    assert settings.cors_origins == ("https://a.example", "https://b.example")
    assert (settings.data_dir, settings.mail_from) == (Path("elsewhere"), Settings().mail_from)


def test_where(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`perch.toml` of the current directory is read, unless PERCH_CONFIG names another file; none is needed."""
    monkeypatch.chdir(file.parent)
    assert load({}).port == 9000
    other = file.with_name("other.toml")
    other.write_text("port = 9002")
    assert load({"PERCH_CONFIG": str(other)}).port == 9002
    file.unlink()
    assert load({}).port == Settings().port


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prot = 1", "there is no setting 'prot'; 'port' is one"),
        ("PORT = 1", "there is no setting 'PORT'; 'port' is one"),
        ("zzzzzz = 1", "there is no setting 'zzzzzz'"),
        ("port = 70000", "PORT must be at most 65535, not 70000"),
        ("port = 1.5", "PORT must be a whole number, not '1.5'"),
        ("port = true", "PORT must be a whole number, not 'true'"),
        ("[server]\nport = 1", "there is no setting 'server'"),
        ("cors_origins = [1]", "cors_origins must be a text, a number, true, false or a list of texts"),
        ("port = ", "Invalid value (at end of document)"),
    ],
)
def test_refused(file: Path, text: str, message: str) -> None:
    """A wrong name or value is refused with the file, the reason, and the nearest name."""
    file.write_text(text)
    with pytest.raises(SettingError) as error:
        load({"PERCH_CONFIG": str(file)})
    assert str(error.value).startswith(f"{file}: {message}")
    assert "\n" not in str(error.value)


async def test_command(tmp_path: Path) -> None:
    """A command whose file is missing ends with one line and exit status 2."""
    missing = tmp_path / "missing.toml"
    status, out, err = await run(tmp_path, "print-tables", perch_config=missing)
    assert (status, out, err) == (2, "", f"perch: {missing}: No such file or directory")
