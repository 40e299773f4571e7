"""The digest that ties compiled kernels to the sources they came from."""

import hashlib
from pathlib import Path


def digest(folder: Path) -> str:
    """Sha256 over the names and bytes of the kernel sources in `folder` and those below it.

    setup.py writes it beside the kernels; the tests compare it with the tree, so that a stale binary
    is never tested by mistake.
    """
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".pyx", ".pxd", ".h"}:
            name = path.relative_to(folder).as_posix()
            total.update(name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return total.hexdigest()
