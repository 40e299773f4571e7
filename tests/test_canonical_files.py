"""What a canonical release is published with: declared domains, its file and checks of it, its points."""

import json

import pytest

import nbcfast
from nbcfast import Table, canonical
from nbcfast.canonical.publish import undeclared


class TestDeclared:
    """A domain that the rows had a say in is named."""

    ROWS = {"age": [5.0, 30, 70, None, 20, 61], "y": ["n", "n", "y", "y", "n", "y"]}

    def test_a_null_that_binned_rows_brought_is_undeclared(self):
        table = Table(self.ROWS, domains={"y": ["n", "y"]}).bin("age", edges=[0, 18, 65, 100])
        assert None in table.domain("age")
        views = nbcfast.count(table, "y")
        assert undeclared(views) == ("age",)
        made = canonical.release(views, 4)
        assert made.certificate.canonical.undeclared == ("age",)
        assert "The values of age come from the rows" in made.certificate.warnings[0]
        parts = [nbcfast.count(table.take(rows), "y") for rows in (slice(3), slice(3, 6))]
        assert undeclared(parts[0] + parts[1]) == ("age",)

    def test_a_null_that_was_declared_is_not(self):
        table = Table(self.ROWS, domains={"y": ["n", "y"]}).bin("age", edges=[0, 18, 65, 100])
        bins = table.domain("age")
        assert undeclared(nbcfast.count(Table(table, domains={"age": bins}), "y")) == ()
        ages = [*range(0, 100, 5), 61, None]
        first = Table(self.ROWS, domains={"y": ["n", "y"], "age": ages})
        assert undeclared(nbcfast.count(first.bin("age", edges=[0, 18, 65, 100]), "y")) == ()
        whole = Table({**self.ROWS, "age": [5, 30, 70, 8, 20, 61]}, domains={"y": ["n", "y"]})
        assert undeclared(nbcfast.count(whole.bin("age", edges=[0, 18, 65, 100]), "y")) == ()

    def test_classes_that_the_rows_brought_are_undeclared(self, tmp_path):
        table = Table(self.ROWS).bin("age", edges=[0, 18, 65, 100])
        table = Table(table, domains={"age": table.domain("age")})
        views = nbcfast.count(table, "y")
        assert undeclared(views) == (None,)
        made = canonical.release(views, 4, class_name="y")
        assert made.certificate.canonical.undeclared == (None,)
        assert made.certificate.warnings[0].startswith(
            "The values of the class come from the rows and were not declared: which values occur is published"
        )
        made.save(tmp_path)
        read = nbcfast.load(tmp_path)
        assert read == made
        assert undeclared(read.views) == (None,)
        assert undeclared(nbcfast.count(table, "y", classes=["n", "y"])) == ()
        raw = nbcfast.count(Table(self.ROWS).bin("age", edges=[0, 18, 65, 100]), "y")
        said = canonical.release(raw, 4).certificate.warnings[0]
        assert said.startswith("The values of age and the class come from the rows")
