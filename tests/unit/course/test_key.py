"""The key: made once, private, and the inputs that come from it."""

import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder import key
from autograder.course import CourseError

KEY = bytes(range(32))


@pytest.fixture
def key_file(tmp_path, monkeypatch):
    file = tmp_path / "new" / "folder" / "key"
    monkeypatch.setenv("ADKIT_KEY_FILE", str(file))
    return file


def test_a_missing_key_is_made_private_with_a_notice_to_back_it_up(key_file, capsys):
    made = key.load_key()
    out, err = capsys.readouterr()
    assert len(made) == 32
    assert key_file.read_text() == made.hex() + "\n"
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(key_file.parent.stat().st_mode) == 0o700
    assert [path.name for path in key_file.parent.iterdir()] == ["key"]
    assert out == ""
    assert str(key_file) in err and "Back it up" in err


def test_the_same_key_is_loaded_again_without_a_word(key_file, capsys):
    made = key.load_key()
    capsys.readouterr()
    assert key.load_key() == made
    assert capsys.readouterr() == ("", "")


def test_without_a_variable_the_key_lies_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("ADKIT_KEY_FILE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    made = key.load_key()
    assert (tmp_path / ".config/adkit/key").read_text().strip() == made.hex()


def test_processes_that_start_together_agree_on_one_key(key_file):
    program = "from autograder.key import load_key; print(load_key().hex())"

    def run(_):
        return subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout

    with ThreadPoolExecutor(3) as pool:
        assert len(set(pool.map(run, range(3)))) == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "0 bytes"),
        (b"00ff\n", "2 bytes"),
        (b"z" * 64, "not hexadecimal"),
        (b"\xff\xfe", "not hexadecimal"),
        (b"00" * 33, "33 bytes"),
    ],
)
def test_a_file_that_holds_no_key_is_an_error_and_stays_as_it_is(key_file, content, reason):
    key_file.parent.mkdir(parents=True)
    key_file.write_bytes(content)
    with pytest.raises(CourseError) as error:
        key.load_key()
    assert str(key_file) in str(error.value)
    assert reason in str(error.value)
    assert "ADKIT_KEY_FILE" in str(error.value)
    assert "\n" not in str(error.value)
    assert key_file.read_bytes() == content


def test_a_folder_in_the_place_of_the_key_is_an_error(key_file):
    key_file.mkdir(parents=True)
    with pytest.raises(CourseError, match="directory"):
        key.load_key()


def test_a_link_to_nowhere_is_an_error_and_nothing_is_made_there(key_file, tmp_path):
    key_file.parent.mkdir(parents=True)
    key_file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CourseError, match="No such file"):
        key.load_key()
    assert not (tmp_path / "elsewhere").exists()


def test_a_key_that_cannot_be_made_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ADKIT_KEY_FILE", str(tmp_path / "file" / "key"))
    with pytest.raises(CourseError, match="can't be used"):
        key.load_key()


def test_the_key_id_is_eight_hex_digits_of_its_sha256():
    # sha256(b"abc"), FIPS 180-2, appendix B.1
    assert key.key_id(b"abc") == "ba7816bf"


def test_variants_of_a_class_take_all_sixteen_values_about_equally():
    counts = [0] * 16
    for number in range(1600):
        counts[key.variant_of(KEY, f"s{number}")] += 1
    # 100 expected in each, standard deviation 9.7
    assert min(counts) > 50 and max(counts) < 150


def test_variants_and_seeds_depend_on_every_argument_and_only_on_them():
    assert key.variant_of(KEY, "s001") == key.variant_of(KEY, "s001")
    seeds = {
        key.seed_of(*arguments)
        for arguments in [
            (KEY, "lab1", "test_a", 3),
            (KEY[::-1], "lab1", "test_a", 3),
            (KEY, "lab2", "test_a", 3),
            (KEY, "lab1", "test_b", 3),
            (KEY, "lab1", "test_a", 4),
            (KEY, "lab1test_", "a", 3),
        ]
    }
    assert len(seeds) == 6
    assert all(seed >= 0 for seed in seeds)
    assert key.seed_of(KEY, "lab1", "test_a", 3) in seeds
    assert any(key.variant_of(KEY, f"s{n}") != key.variant_of(KEY[::-1], f"s{n}") for n in range(50))
