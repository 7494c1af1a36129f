"""Settings: a bad value costs no more than itself, and what was saved comes back."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dictation import settings as s
from dictation.errors import SettingError
from engine.languages import LANGUAGES


def valid(setting):
    codes = st.sampled_from(sorted(LANGUAGES))
    if setting.widget == "language":
        return codes | st.just("auto")
    if setting.widget == "languages":
        return st.lists(codes).map(tuple)
    return {
        "switch": st.booleans(),
        "whole": st.integers(int(setting.least or 0), int(setting.most or 9)),
        "number": st.floats(setting.least or 0, setting.most or 9),
        "choice": st.sampled_from(setting.choices or ("x",)),
        "text": st.text(),
        "list": st.lists(st.text()).map(tuple),
        "table": st.lists(st.dictionaries(st.text(), st.text() | st.booleans())).map(tuple),
    }[setting.kind]


some_settings = st.fixed_dictionaries({}, optional={row.key: valid(row) for row in s.TABLE})


def test_the_table_is_whole():
    keys = [row.key for row in s.TABLE]
    assert len(set(keys)) == len(keys)
    for row in s.TABLE:
        assert row.check(row.default) == row.default
        assert row.label and row.help.endswith(".")
        assert row.page in s.Page.__args__


@given(some_settings)
def test_what_is_saved_comes_back(tmp_path_factory, values):
    file = tmp_path_factory.mktemp("s") / "settings.toml"
    s.save(s.Settings().changed(values), file)
    loaded = s.load(file)
    assert not loaded.problems
    assert {k: loaded.settings[k] for k in values} == values


@given(some_settings, st.sampled_from(s.TABLE), st.sampled_from([[1], {"a": 1}, -1, "nonsense", 1.5, True]))
def test_a_bad_field_falls_back_alone(tmp_path_factory, values, row, wrong):
    try:
        row.check(wrong)
        return  # this value is right for that row
    except SettingError:
        pass
    file = tmp_path_factory.mktemp("s") / "settings.toml"
    damaged = s.Settings(values | {row.key: wrong})
    s.save(damaged, file)
    loaded = s.load(file)
    assert loaded.settings[row.key] == row.default
    assert len(loaded.problems) == 1 and row.key in loaded.problems[0]
    assert all(loaded.settings[k] == v for k, v in values.items() if k != row.key)


def test_a_damaged_line_costs_only_itself_and_a_copy_is_kept(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text('[recognition]\nlanguage = "de"\nmodel = "base\n[hotkeys]\nmode = "hold"\n')
    loaded = s.load(file)
    assert loaded.settings["recognition.language"] == "de"
    assert loaded.settings["hotkeys.mode"] == "hold"
    assert loaded.settings["recognition.model"] == ""
    assert "damaged" in loaded.problems[0]
    assert len(list(tmp_path.glob("settings.damaged-*.toml"))) == 1


def test_damage_that_stays_or_comes_back_does_not_fill_the_folder(tmp_path, monkeypatch):
    file = tmp_path / "settings.toml"
    for n in range(6):
        file.write_text(f'[recognition]\nmodel = "base{n}\n')
        monkeypatch.setattr(s.time, "strftime", lambda _, n=n: f"20260101-00000{n}")
        assert s.load(file).problems == s.load(file).problems
    assert sorted(p.name[-6:-5] for p in tmp_path.glob("settings.damaged-*.toml")) == ["3", "4", "5"]


@given(junk=st.binary())
def test_no_file_content_stops_the_start(tmp_path_factory, junk):
    file = tmp_path_factory.mktemp("s") / "settings.toml"
    file.write_bytes(junk)
    assert s.load(file).settings["hotkeys.mode"] == "tap_or_hold"


def test_fields_of_a_newer_version_are_kept(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text('schema_version = 99\n[recognition]\nlanguage = "fr"\nfuture = 7\n[new_page]\nx = "y"\n')
    loaded = s.load(file)
    s.save(loaded.settings.changed({"recognition.language": "de"}), file)
    text = file.read_text()
    assert "schema_version = 99" in text and "future = 7" in text and 'x = "y"' in text and 'language = "de"' in text


def test_a_renamed_field_is_found_under_its_old_name(tmp_path, monkeypatch):
    row = s.Setting("general.new_name", "text", "", "Label", "Help.", renamed_from=("general.old_name",))
    monkeypatch.setattr(s, "TABLE", (*s.TABLE, row))
    file = tmp_path / "settings.toml"
    file.write_text('[general]\nold_name = "kept"\n')
    loaded = s.load(file)
    assert loaded.settings["general.new_name"] == "kept"
    assert "general.old_name" not in loaded.settings.unknown


def test_the_file_before_the_last_save_is_kept_and_both_are_private(tmp_path):
    file = tmp_path / "settings.toml"
    s.save(s.Settings().changed({"recognition.language": "de"}), file)
    s.save(s.Settings().changed({"recognition.language": "fr"}), file)
    backup = tmp_path / "settings.toml.bak"
    assert '"de"' in backup.read_text() and '"fr"' in file.read_text()
    if os.name == "posix":
        assert {stat.S_IMODE(f.stat().st_mode) for f in (file, backup)} == {0o600}


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("microphone.tail_ms", "250", 250),
        ("microphone.keep_warm", "on", True),
        ("recognition.my_languages", "en, de", ("en", "de")),
        ("recognition.language", "de", "de"),
        ("recognition.hands_free_silence_s", "2", 2.0),
    ],
)
def test_values_typed_on_a_command_line(key, typed, value):
    assert s.parse(key, typed) == value


@pytest.mark.parametrize(
    ("key", "typed"),
    [("microphone.tail_ms", "9999"), ("hotkeys.mode", "sideways"), ("no.such", "1"), ("general.theme", "")],
)
def test_a_wrong_value_on_a_command_line_is_refused_with_what_is_allowed(key, typed):
    with pytest.raises(SettingError, match=r"takes|no setting"):
        s.parse(key, typed)


def test_thousands_of_nested_brackets_are_only_damage(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("schema_version = 1\na = " + "[" * 5000)
    loaded = s.load(path)
    assert loaded.settings == s.Settings() and "damaged" in loaded.problems[0]


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_what_an_editor_on_windows_saved_is_read_whole(tmp_path, coding):
    path = tmp_path / "settings.toml"
    mark = b"\xfe\xff" if coding == "utf-16-be" else b""
    path.write_bytes(mark + '[rewrite]\r\nremove_fillers = false\r\ntrailing_text = "ä"\r\n'.encode(coding))
    loaded = s.load(path)
    assert not loaded.problems
    assert (loaded.settings["rewrite.remove_fillers"], loaded.settings["rewrite.trailing_text"]) == (False, "ä")


def test_a_language_that_whisper_does_not_know_falls_back_and_is_said_at_the_start_not_after_a_dictation(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text('[recognition]\nlanguage = "klingon"\nmy_languages = ["German", "en"]\n')
    loaded = s.load(path)
    assert loaded.settings["recognition.language"] == "auto"
    assert loaded.settings["recognition.my_languages"] == ("de", "en"), "by name as well"
    assert len(loaded.problems) == 1 and "klingon" in loaded.problems[0]


def make_pipe(path):
    os.mkfifo(path)


def link_to_a_device(path):
    path.symlink_to(os.devnull)


@pytest.mark.skipif(os.name == "nt", reason="pipes and devices in folders are for POSIX only")
@pytest.mark.parametrize("make", [make_pipe, link_to_a_device, os.mkdir])
def test_what_is_no_plain_file_is_neither_read_nor_written_and_said_in_one_sentence(tmp_path, make):
    path = tmp_path / "settings.toml"
    make(path)
    with ThreadPoolExecutor(1) as pool:
        loaded = pool.submit(s.load, path).result(timeout=10)
        assert loaded.settings == s.Settings()
        assert loaded.problems == ("The settings can't be read (it is no plain file); defaults are in use.",)
        with pytest.raises(OSError, match="no plain file"):
            pool.submit(s.save, loaded.settings, path).result(timeout=10)
    assert os.listdir(tmp_path) == ["settings.toml"]


@pytest.fixture
def running(tmp_path):
    """The file of a Sayso that runs."""
    path = tmp_path / "settings.toml"
    path.write_text('[general]\ntheme = "dark"\n[recognition]\nlanguage = "fr"\n')
    file = s.SettingsFile(path)
    file.now = file.load().settings
    return file


def by_hand(file, old, new):
    text = file.path.read_text()
    assert old in text
    file.path.write_text(text.replace(old, new))


def change(file, key, value):
    saved = file.save(file.now.changed({key: value}))
    file.now = saved.settings
    assert s.load(file.path).settings == saved.settings
    return saved


@given(people=some_settings, app=some_settings)
def test_what_people_change_in_the_file_and_the_app_does_not_survives_its_saves(tmp_path_factory, people, app):
    file = s.SettingsFile(tmp_path_factory.mktemp("s") / "settings.toml")
    s.save(s.Settings({"general.theme": "dark", "recognition.language": "fr"}), file.path)
    before = file.load().settings
    s.save(before.changed(people), file.path)
    saved = file.save(before.changed(app))
    changed_by_app = {key for key in app if before.changed(app)[key] != before[key]}
    for key, value in before.changed(people).items():
        assert saved.settings[key] == (before.changed(app)[key] if key in changed_by_app else value)
    assert not saved.problems and s.load(file.path).settings == saved.settings


def test_a_change_by_hand_counts_also_after_the_app_has_changed_the_same_setting_before(running):
    change(running, "general.theme", "light")
    by_hand(running, "light", "dark")
    assert change(running, "recognition.language", "de").settings["general.theme"] == "dark"
    by_hand(running, '[general]\ntheme = "dark"\n', "[new_page]\nx = 1\n")
    saved = change(running, "recognition.language", "it")
    assert saved.settings["general.theme"] == "system", "a line that is taken out means the default"
    assert "x = 1" in running.path.read_text()


def test_a_wrong_value_written_meanwhile_is_said_once_and_changes_nothing(running):
    by_hand(running, '"dark"', '"pink"\nshow_overlay = false')
    saved = change(running, "recognition.language", "de")
    assert len(saved.problems) == 1 and "pink" in saved.problems[0]
    assert (saved.settings["general.theme"], saved.settings["general.show_overlay"]) == ("dark", False)
    assert not change(running, "recognition.language", "it").problems


def test_a_file_damaged_meanwhile_is_kept_beside_and_costs_no_setting(running):
    by_hand(running, '"dark"', '"dark')
    damaged = running.path.read_text()
    saved = change(running, "recognition.language", "de")
    assert len(saved.problems) == 1 and "damaged" in saved.problems[0]
    assert saved.settings["general.theme"] == "dark"
    (kept,) = running.path.parent.glob("settings.damaged-*.toml")
    assert kept.read_text() == damaged and kept.name in saved.problems[0]


def test_damage_that_was_there_at_the_start_is_not_said_again(tmp_path):
    file = s.SettingsFile(tmp_path / "settings.toml")
    file.path.write_text('[general]\ntheme = "dark"\nsound_ready = maybe\n[hotkeys]\nmode = "sideways"\n')
    loaded = file.load()
    assert len(loaded.problems) == 2
    saved = file.save(loaded.settings.changed({"recognition.language": "de"}))
    assert not saved.problems and saved.settings["general.theme"] == "dark"
