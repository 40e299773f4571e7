"""The table.parquet beside a table is what is written for it, byte for byte."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from random import Random
from typing import ClassVar

import pytest
from folder_cases import PEOPLE, check, disclosure, rewritten

import nbcfast
from nbcfast import skyline
from nbcfast.verification.results import Check

WRITER = re.compile(rb"parquet-cpp-arrow version [0-9.]+")


def renamed(data, text):
    """A Parquet file with another name for what wrote it."""
    length = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - length], data[-8 - length : -8]
    own = list(WRITER.finditer(footer))[-1]
    assert footer[own.start() - 1] == len(own[0])
    footer = footer[: own.start() - 1] + bytes([len(text)]) + text + footer[own.end() :]
    return body + footer + len(footer).to_bytes(4, "little") + b"PAR1"


class TestParquet:
    """The copy of the table in another format."""

    @pytest.fixture(params=["disclosure", "partition", "weights"])
    def copied(self, request, tmp_path):
        pytest.importorskip("pyarrow")
        made = skyline.anonymize(PEOPLE, ["job", "age"], "ill", k=2)
        made = made if request.param == "partition" else disclosure()
        made.save(tmp_path / "out", parquet=True, weights="n" if request.param == "weights" else None)
        return tmp_path / "out"

    def signed(self, folder, data):
        """Put another copy into the folder, and its sha256 into the certificate."""
        (folder / "table.parquet").write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        rewritten(folder, lambda fields: fields.update(parquet_sha256=digest))

    def written(self, folder, change=lambda table: table, *, group=None, **options):
        """What pyarrow writes of the same table, changed."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        from nbcfast.published import table_lines as tables

        fields = json.loads((folder / "certificate.json").read_text())
        made = nbcfast.load(folder)
        rows = made.counted if fields["kind"] == "partition" else made.collapsed
        table = change(pa.concat_tables(tables.arrow_blocks(rows, fields["weights"])))
        with pa.BufferOutputStream() as out:
            with pq.ParquetWriter(out, table.schema, **{"compression": "none", **options}) as writer:
                writer.write_table(table, row_group_size=group)
            return out.getvalue().to_pybytes()

    def test_the_copy_is_named_and_compared(self, copied, script):
        data = (copied / "table.parquet").read_bytes()
        fields = json.loads((copied / "certificate.json").read_text())
        assert fields["parquet_sha256"] == hashlib.sha256(data).hexdigest()
        found = nbcfast.verify(copied)
        assert found.ok, found
        text = "table.parquet is what is written for table.csv, byte for byte"
        assert check(found, "parquet").text == text
        code, lines = script(copied)
        assert code == 3
        assert any(
            line.startswith("?    parquet        the sha256 of table.parquet matches; that") for line in lines
        )
        assert any(line.startswith("not fully checked: 1 check is not decided") for line in lines)
        (copied / "table.parquet").unlink()
        assert nbcfast.verify(copied).ok
        assert script(copied)[0] == 0

    def test_it_is_made_of_rows_and_domains_alone(self, copied, tmp_path):
        weights = json.loads((copied / "certificate.json").read_text())["weights"]
        nbcfast.load(copied).save(tmp_path / "again", parquet=True, weights=weights)
        for path in copied.iterdir():
            assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()

    def test_a_changed_byte_is_found(self, copied, script):
        data = bytearray((copied / "table.parquet").read_bytes())
        data[len(data) // 2] ^= 1
        (copied / "table.parquet").write_bytes(data)
        text = "the sha256 of table.parquet does not match: it was changed"
        assert check(nbcfast.verify(copied), "parquet") == Check("parquet", False, text)
        code, lines = script(copied)
        assert (code, f"NO   parquet        {text}" in lines) == (1, True)

    def test_a_certificate_that_names_none_has_none(self, copied, script):
        rewritten(copied, lambda fields: fields.pop("parquet_sha256"))
        found = nbcfast.verify(copied)
        assert [each.name for each in found.checks if not each.passed] == ["folder"]
        assert script(copied)[0] == 1
        assert nbcfast.verify(copied, ignore_extra=True).ok
        assert script(copied, "--ignore-extra")[0] == 0

    def test_a_pipe_in_its_place(self, copied, script):
        (copied / "table.parquet").unlink()
        os.mkfifo(copied / "table.parquet")
        found = nbcfast.verify(copied)
        assert [check(found, name).passed for name in ("folder", "parquet")] == [False, False]
        assert script(copied)[0] == 1

    @pytest.mark.parametrize("sha256", ["", "0" * 63, 5, None])
    def test_the_form_of_its_sha256(self, copied, sha256):
        rewritten(copied, lambda fields: fields.update(parquet_sha256=sha256))
        expected = "field 'parquet_sha256': expected 64 hexadecimal digits"
        assert expected in check(nbcfast.verify(copied), "file").text

    def test_what_pyarrow_writes_of_it_is_the_copy(self, copied):
        """Or the forgeries below would be refused for another reason."""
        assert self.written(copied) == (copied / "table.parquet").read_bytes()

    @staticmethod
    def forged_dictionary(table):
        import pyarrow as pa

        chunk = table.column("job").combine_chunks()
        values = pa.array([*chunk.dictionary.to_pylist(), "Mrs Secret"])
        return table.set_column(0, "job", pa.DictionaryArray.from_arrays(chunk.indices, values))

    @staticmethod
    def with_field_metadata(table):
        field = table.schema.field(0).with_metadata({"note": "Mrs Secret"})
        return table.cast(table.schema.set(0, field))

    FORGED: ClassVar[dict[str, Callable[..., bytes]]] = {
        "no rows": lambda self, folder: self.written(folder, lambda table: table.slice(0, 0)),
        "a row less": lambda self, folder: self.written(folder, lambda table: table.slice(1)),
        "another order": lambda self, folder: self.written(
            folder, lambda table: table.take(list(range(table.num_rows))[::-1])
        ),
        "a column more": lambda self, folder: self.written(
            folder, lambda table: table.append_column("secret", table.column(1))
        ),
        "a column less": lambda self, folder: self.written(folder, lambda table: table.remove_column(0)),
        "other columns": lambda self, folder: self.written(
            folder, lambda table: table.rename_columns(["x", *table.schema.names[1:]])
        ),
        "metadata": lambda self, folder: self.written(
            folder, lambda table: table.replace_schema_metadata({"note": "Mrs Secret"})
        ),
        "metadata of pandas": lambda self, folder: self.written(
            folder, lambda table: table.replace_schema_metadata({"pandas": '{"index_columns": ["job"]}'})
        ),
        "metadata of a column": lambda self, folder: self.written(folder, self.with_field_metadata),
        "an unused value": lambda self, folder: self.written(folder, self.forged_dictionary),
        "another type": lambda self, folder: self.written(
            folder, lambda table: table.set_column(0, "job", table.column(0).cast("string"))
        ),
        "row groups": lambda self, folder: self.written(folder, group=4),
        "compressed": lambda self, folder: self.written(folder, compression="gzip"),
        "other encodings": lambda self, folder: self.written(folder, use_dictionary=False),
        "other pages": lambda self, folder: self.written(folder, data_page_version="2.0"),
        "no statistics": lambda self, folder: self.written(folder, write_statistics=False),
        "bytes between the pages and the footer": lambda self, folder: self.stuffed(folder, b"Mrs Secret"),
        "bytes behind": lambda self, folder: (folder / "table.parquet").read_bytes() + b"Mrs Secret",
        "bytes between two marks": lambda self, folder: (
            (folder / "table.parquet").read_bytes() + (folder / "table.parquet").read_bytes()
        ),
        "half": lambda self, folder: (folder / "table.parquet").read_bytes()[:200],
        "nothing": lambda self, folder: b"",
        "another writer": lambda self, folder: renamed(
            (folder / "table.parquet").read_bytes(), b"parquet-cpp-arrow version 1.2.3 by Mrs Secret"
        ),
        "no parquet": lambda self, folder: b"PAR1" + b"\xff" * 50 + b"PAR1",
    }

    @staticmethod
    def stuffed(folder, secret):
        data = (folder / "table.parquet").read_bytes()
        end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
        return data[:end] + secret + data[end:]

    @pytest.mark.parametrize("name", FORGED)
    def test_another_is_refused(self, copied, script, name):
        data = self.FORGED[name](self, copied)
        assert data != (copied / "table.parquet").read_bytes()
        self.signed(copied, data)
        found = nbcfast.verify(copied)
        assert [each.name for each in found.checks if not each.passed] == ["parquet"], found
        assert check(found, "parquet").passed is False
        assert (found.exit_code, script(copied)[0]) == (1, 3)

    def test_private_statistics_are_refused(self, copied):
        data = (copied / "table.parquet").read_bytes()
        least = b"Discharged" if b"Discharged" in data else b"no"
        start = data.rindex(least)
        self.signed(copied, data[:start] + b"M" * len(least) + data[start + len(least) :])
        assert check(nbcfast.verify(copied), "parquet").passed is False

    @pytest.mark.parametrize("version", ["1.2.3", "123.10.100"])
    def test_the_version_of_pyarrow_may_be_another(self, copied, version):
        name = f"parquet-cpp-arrow version {version}".encode()
        self.signed(copied, renamed((copied / "table.parquet").read_bytes(), name))
        found = nbcfast.verify(copied)
        assert found.ok, found
        assert check(found, "parquet").text.endswith(f"byte for byte, by pyarrow {version}")

    NAMELESS: ClassVar[set[str]] = {"another writer", "bytes behind", "half", "nothing", "no parquet"}

    @pytest.mark.parametrize("name", sorted(set(FORGED) - NAMELESS))
    def test_of_another_version_it_is_not_decided(self, copied, script, name):
        data = renamed(self.FORGED[name](self, copied), b"parquet-cpp-arrow version 1.2.3")
        self.signed(copied, data)
        found = nbcfast.verify(copied)
        assert (found.exit_code, script(copied)[0]) == (3, 3)
        text = check(found, "parquet").text
        assert re.search(r"pyarrow 1\.2\.3 wrote it, and .* pip install pyarrow==1\.2\.3 to compare it", text)

    def test_mutants_are_refused_and_never_read(self, tmp_path, monkeypatch):
        """Some abort pyarrow, and the interpreter with it."""
        parquet = pytest.importorskip("pyarrow.parquet")
        disclosure().save(tmp_path, parquet=True)
        good = (tmp_path / "table.parquet").read_bytes()
        name = list(WRITER.finditer(good))[-1]
        for reader in ("ParquetFile", "read_table", "read_schema", "read_metadata"):
            monkeypatch.setattr(parquet, reader, None)
        random = Random(13)
        for _ in range(150):
            data, place = bytearray(good), random.randrange(len(good))
            if random.random() < 0.7:
                data[place] ^= random.randrange(1, 256)
            else:
                data[place : place + random.randrange(2)] = random.randbytes(random.randrange(1, 9))
            self.signed(tmp_path, bytes(data))
            found = check(nbcfast.verify(tmp_path), "parquet")
            if not name.start() <= place < name.end():
                assert found.passed is False, (place, found)

    def test_without_pyarrow_it_is_not_decided(self, copied, monkeypatch):
        from nbcfast.published import table_lines as tables

        monkeypatch.setattr(tables, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
        found = nbcfast.verify(copied)
        assert (found.exit_code, check(found, "parquet").passed) == (3, None)
        assert "pip install pyarrow" in check(found, "parquet").text

    def test_a_table_of_many_row_groups(self, tmp_path, monkeypatch):
        pytest.importorskip("pyarrow")
        from nbcfast.published import table_lines as tables

        monkeypatch.setattr(tables, "BLOCK_ROWS", 5)
        disclosure().save(tmp_path, parquet=True)
        import pyarrow.parquet as pq

        assert pq.read_metadata(tmp_path / "table.parquet").num_row_groups == 3
        assert nbcfast.verify(tmp_path).ok
        self.signed(tmp_path, self.written(tmp_path))
        assert check(nbcfast.verify(tmp_path), "parquet").passed is False
