"""Everything that can be given as a log: files, folders, archives, standard input, and one clear error for what cannot."""

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from pathlib import Path

import pytest

from analyzer.inputs import reader
from analyzer.inputs.reader import InputError, read_documents

LOG = b"INFO 11-19 12:16:36 [core.py:76] Initializing a V1 LLM engine\n" * 50
NOISE = random.Random(0).randbytes(400_000)  # does not compress, so that it fills many blocks


def texts(*paths: Path, standard_input: bytes = b"") -> dict[str, bytes]:
    return {document.name: document.data for document in read_documents(paths, {}, io.BytesIO(standard_input))}


def zipped(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), data)
    return packed.getvalue()


def tarred(members: dict[str, bytes], mode: str = "w") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "vllm.log"


@pytest.mark.parametrize(
    "packed",
    [
        LOG,
        gzip.compress(LOG),
        gzip.compress(LOG[:600]) + gzip.compress(LOG[600:]),
        lzma.compress(LOG),
        bz2.compress(LOG),
        gzip.compress(lzma.compress(LOG)),
    ],
    ids=["plain", "gzip", "two gzip members", "xz", "bzip2", "xz in gzip"],
)
def test_a_file_is_known_by_its_first_bytes(log: Path, packed: bytes):
    log.write_bytes(packed)
    assert texts(log) == {str(log): LOG}


def test_paths_keep_their_order(tmp_path: Path):
    for name in ("b.log", "a.log"):
        (tmp_path / name).write_bytes(name.encode())
    assert [document.name for document in read_documents([tmp_path / "b.log", tmp_path / "a.log"], {}, io.BytesIO())] == [
        str(tmp_path / "b.log"),
        str(tmp_path / "a.log"),
    ]


def test_standard_input():
    assert texts(Path("-"), standard_input=LOG) == {"<standard input>": LOG}
    assert texts(Path("-"), standard_input=gzip.compress(LOG)) == {"<standard input>": LOG}


def test_a_folder_gives_its_logs_and_nothing_else(tmp_path: Path):
    (tmp_path / "pods" / "vllm-0").mkdir(parents=True)
    for name in ("pods/vllm-0/current.log", "pods/vllm-0/vllm.log.4", "stderr", "old.log.gz"):
        (tmp_path / name).write_bytes(gzip.compress(LOG) if name.endswith("gz") else LOG)
    for name in ("model.safetensors", "core.py", "page.html"):
        (tmp_path / name).write_bytes(b"x")
    assert texts(tmp_path) == {
        str(tmp_path / name): LOG for name in ("old.log.gz", "pods/vllm-0/current.log", "pods/vllm-0/vllm.log.4", "stderr")
    }


def test_a_zip_gives_its_logs(log: Path):
    log.write_bytes(zipped(pods__vllm_log=LOG, pods__model_bin=b"x", old_gz=gzip.compress(b"older")))
    assert texts(log) == {f"{log}:pods/vllm.log": LOG, f"{log}:old.gz": b"older"}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2"])
def test_a_tar_gives_its_logs(log: Path, mode: str):
    log.write_bytes(tarred({"must-gather/current.log": LOG, "image.png": b"x", "inner.zip": zipped(inner_txt=b"inner")}, mode))
    assert texts(log) == {f"{log}:must-gather/current.log": LOG, f"{log}:inner.zip:inner.txt": b"inner"}


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress], ids=["gzip", "xz", "bzip2"])
def test_of_a_compressed_log_cut_by_the_crash_all_that_is_there_is_read(log: Path, compress):
    log.write_bytes(compress(LOG + NOISE + NOISE + NOISE)[:-200_000])
    (read,) = texts(log).values()
    assert read.startswith(LOG)
    assert len(read) > len(LOG)
    assert (LOG + NOISE * 3).startswith(read)


def test_a_short_cut_log_too(log: Path):
    packed = gzip.compress(LOG + NOISE[:2000])
    log.write_bytes(packed[:-100])
    (read,) = texts(log).values()
    assert read.startswith(LOG)


def test_links_and_paths_in_an_archive_lead_nowhere(log: Path, tmp_path: Path):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        link = tarfile.TarInfo("link.log")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        outside = tarfile.TarInfo("../../outside.log")
        outside.size = 4
        archive.addfile(outside, io.BytesIO(b"text"))
    log.write_bytes(packed.getvalue())
    assert texts(log) == {f"{log}:../../outside.log": b"text"}
    assert sorted(tmp_path.rglob("*")) == [log]


BROKEN = bytearray(gzip.compress(NOISE[:1000]))
BROKEN[12:200] = bytes(188)
BROKEN_ZIP = bytearray(zipped(a_log=LOG))
BROKEN_ZIP[40:60] = bytes(20)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (gzip.compress(LOG)[:5], "damaged archive"),
        (bytes(BROKEN), "damaged archive"),
        (zipped(a_log=LOG)[:-30], "damaged archive"),
        (bytes(BROKEN_ZIP), "damaged archive"),
        (tarred({"a.log": LOG * 20})[:2000], "damaged archive"),
        (zipped(), "no logs in this archive"),
        (zipped(model_bin=b"x"), "no logs in this archive"),
        (tarred({"model.bin": b"x"}), "no logs in this archive"),
        (b"\x28\xb5\x2f\xfd" + LOG, "zstd cannot be read here"),
        (b"Rar!\x1a\x07" + LOG, "rar cannot be read here"),
    ],
    ids=[
        "gzip header only",
        "gzip with a hole",
        "zip without its directory",
        "zip with a hole",
        "cut tar",
        "empty zip",
        "zip of other files",
        "tar of other files",
        "zstd",
        "rar",
    ],
)
def test_what_cannot_be_read_is_said_with_its_name(log: Path, data: bytes, complaint: str):
    log.write_bytes(data)
    with pytest.raises(InputError, match=complaint) as raised:
        texts(log)
    assert str(log) in str(raised.value)


def test_a_missing_file(log: Path):
    with pytest.raises(InputError, match=r"vllm\.log: No such file"):
        texts(log)


def test_a_name_that_no_file_can_have(tmp_path: Path):
    with pytest.raises(InputError, match="File name too long"):
        texts(tmp_path / ("x" * 300))


def test_a_folder_without_logs(tmp_path: Path):
    (tmp_path / "model.safetensors").write_bytes(b"x")
    with pytest.raises(InputError, match="no logs in this folder"):
        texts(tmp_path)


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(bytes(5000)),
        zipped(a_log=bytes(5000)),
        zipped(a_log=bytes(700), b_log=bytes(700)),
        tarred({"a.log": bytes(700), "b.log": bytes(700)}, "w:gz"),
        zipped(inner_zip=zipped(a_log=bytes(5000))),
    ],
    ids=["gzip", "zip", "many small members", "tar", "zip in zip"],
)
def test_a_bomb_is_refused(log: Path, packed: bytes, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reader, "MOST_BYTES", 1000)
    log.write_bytes(packed)
    with pytest.raises(InputError, match="unpacks to more than 1000 bytes"):
        texts(log)


def test_so_is_an_archive_in_an_archive_in_an_archive(log: Path):
    packed = LOG
    for _ in range(40):
        packed = gzip.compress(packed)
    log.write_bytes(packed)
    with pytest.raises(InputError, match="archives within archives"):
        texts(log)


def test_an_empty_file_is_an_empty_log(log: Path):
    log.write_bytes(b"")
    assert texts(log) == {str(log): b""}
