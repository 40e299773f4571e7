"""Published folders of every kind, and the script that checks them."""

import pytest
from folder_cases import SAVED

from nbcfast import verify_release


@pytest.fixture
def script(capsys):
    """The exit code of the script, and the lines that it prints."""

    def run(*arguments):
        capsys.readouterr()
        code = verify_release.main(list(map(str, arguments)))
        printed, errors = capsys.readouterr()
        assert errors == ""
        return code, printed.splitlines()

    return run


@pytest.fixture(params=SAVED)
def kind(request):
    return request.param


@pytest.fixture
def folder(kind, tmp_path):
    SAVED[kind](tmp_path / "out")
    return tmp_path / "out"
