"""The floors of the house: what each room may import. docs/architecture.md says what each is for.

A room imports rooms on lower floors, and on its own floor those that are named before it, at the top of a
module and by public names.
"""

import ast
import functools
import re
from collections import Counter
from pathlib import Path

import pytest
from sources import statements

import nbcfast

PACKAGE = Path(nbcfast.__file__).parent
TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs" / "architecture.md"
SOURCES = TOP / "src"

# From the basement up. On a floor a room may import those before it; makers, on the sixth, no other maker.
FLOORS = [
    ("_build", "_sources", "kernels", "_wire", "_core", "_markup", "glossary"),
    ("table", "frames", "domains", "_reading"),
    ("views", "groups", "_halves"),
    ("safety", "equivalence", "skyline", "associations"),
    ("published", "attack"),
    ("_rounding", "transform"),
    ("closeness", "canonical", "mondrian", "templates", "response", "dp"),
    ("ledger", "policies", "verification", "publishing", "streams", "exports", "reports", "sklearn"),
    ("cli",),
]
MAKERS = FLOORS[6]
PLACE = {room: (floor, place) for floor, rooms in enumerate(FLOORS) for place, room in enumerate(rooms)}
DOORS = {"nbcfast", "release", "__main__"}  # facades: they hand out what is in other rooms, and hold nothing
ALONE = {"reference", "verify_release"}  # no room imports them; the second is generated from _wire

# Import an extra at their top, and are imported where it is needed.
EXTRAS = {"nbcfast.published.fitted", "nbcfast.sklearn.fitted_counts"}

# Where modules of ours are imported by a text: doors, the group that verbs register with, and what a release
# hands over to a floor above it: `release.export` is a door, and nobody who only reads a release enters it.
BY_TEXT = {
    "nbcfast",
    "nbcfast.release",
    "nbcfast.skyline",
    "nbcfast.sklearn",
    "nbcfast.cli.options",
    "nbcfast.published.exported",
    "nbcfast.frames.frame",  # whose counts are made where all counts are
}

# What stands there in a type alone, of a room above.
TYPES = {("nbcfast.frames.frame", "nbcfast.views.Viewset")}

# Module names that rooms may share.
SHARED = {"__init__", "publish", "wire", "results"}


def module_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}
KERNELS = {path.stem for path in PACKAGE.glob("*.pyi")}


def room_of(module):
    parts = module.split(".")
    if len(parts) == 1:
        return "nbcfast"
    return "kernels" if parts[1] in KERNELS else parts[1]


@functools.cache
def imports():
    """Each own import: the module, what it imports, where that is, and whether in a function."""
    return tuple(each for module in MODULES if room_of(module) not in ALONE for each in imports_of(module))


def imports_of(module):
    path = MODULES[module]
    for node, inside, in_if in statements(path.read_text(encoding="utf-8")):
        if path.name == "__init__.py" and in_if:
            continue  # what a door hands out lazily, for types alone
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "nbcfast":
            names = [(f"{node.module}.{alias.name}", node.module) for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [(alias.name, alias.name) for alias in node.names if alias.name.startswith("nbcfast")]
        else:
            continue
        for full, home in names:
            is_module = full in MODULES or full.removeprefix("nbcfast.") in KERNELS
            yield module, full, full if is_module else home, inside


def is_allowed(importer, imported):
    """Whether a room may import another."""
    if importer == imported or importer in DOORS:
        return True
    if imported in DOORS or imported not in PLACE or importer not in PLACE:
        return False
    if importer in MAKERS and imported in MAKERS:
        return False
    return PLACE[imported] < PLACE[importer]


def found():
    wrong = set()
    for module, full, target, inside in imports():
        importer, imported = room_of(module), room_of(target)
        if full == "nbcfast.__version__" or (importer, full) == ("cli", "nbcfast"):  # on the public interface
            continue
        if (module, full) in TYPES:
            continue
        is_door = MODULES[module].name == "__init__.py" or importer in DOORS
        if not is_allowed(importer, imported) or (inside and not is_door and target not in EXTRAS):
            wrong.add((module.removeprefix("nbcfast."), full.removeprefix("nbcfast.")))
    return wrong


def test_every_room_is_on_a_floor():
    rooms = {room_of(module) for module in MODULES} - DOORS - ALONE
    assert rooms <= set(PLACE), sorted(rooms - set(PLACE))


def test_the_page_has_the_same_floors():
    rows = re.findall(r"^\| (\d) \|([^|]*)\|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    told = {int(floor): set(re.findall(r"`(\w+)`", rooms)) for floor, rooms in rows}
    unnamed = {"_build", "_sources", "kernels"}
    assert told == {floor: set(rooms) - unnamed for floor, rooms in enumerate(FLOORS)}


def told_of_kernels():
    """Of each kernel, as the page has it: the rooms that call it, and whether it looks for Ctrl-C itself."""
    cells = r"^\| `(\w+)` \|[^|]*\|([^|]*)\|([^|]*)\|$"
    rows = re.findall(cells, PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {kernel: (set(re.findall(r"`(\w+)`", rooms)), "itself" in looks) for kernel, rooms, looks in rows}


def test_the_page_says_which_rooms_call_each_kernel():
    calls = {kernel: set() for kernel in KERNELS}
    for module, _, target, _ in imports():
        if room_of(target) == "kernels":
            calls[target.removeprefix("nbcfast.")].add(room_of(module))
    assert {kernel: rooms for kernel, (rooms, _) in told_of_kernels().items()} == calls


@pytest.mark.skipif(not SOURCES.is_dir(), reason="src/ belongs to a clone, and is not here")
def test_the_page_says_which_kernels_look_for_ctrl_c():
    sources = {kernel: (SOURCES / f"{kernel}.pyx").read_text(encoding="utf-8") for kernel in KERNELS}
    looks = {kernel for kernel, source in sources.items() if "PyErr_CheckSignals()" in source}
    assert {kernel for kernel, (_, itself) in told_of_kernels().items() if itself} == looks


def test_imports_go_down_and_stand_at_the_top():
    assert found() == set()


def test_no_import_hides_in_a_text():
    sources = {module: path.read_text(encoding="utf-8") for module, path in MODULES.items()}
    texts = {
        module
        for module, source in sources.items()
        if "import_module" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("import_module")
        and not (isinstance(node.args[0], ast.Constant) and not node.args[0].value.startswith("nbcfast"))
    }
    assert texts == BY_TEXT


def test_no_module_name_stands_for_two():
    names = Counter(
        path.stem
        for module, path in MODULES.items()
        if room_of(module) not in ALONE | DOORS and path.stem not in SHARED
    )
    assert {name for name, n in names.items() if n > 1} == set()


def test_no_class_name_stands_for_two():
    names = Counter(
        name
        for module, path in MODULES.items()
        if room_of(module) not in ALONE
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert {name for name, n in names.items() if n > 1} == {"Report"}  # of safety, and of a skyline


def test_no_private_name_leaves_its_module():
    private = {
        (module.removeprefix("nbcfast."), name.removeprefix("nbcfast."))
        for module, name, _, _ in imports()
        if re.match(r"_[a-zA-Z]", name.rpartition(".")[2]) and name.count(".") > 1
    }
    assert private == set()


def private_imports(source):
    """What a test imports of a module of ours that begins with an underscore, and is no module."""
    return {
        f"{node.module}.{alias.name}"
        for node, _, _ in statements(source)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nbcfast.")
        for alias in node.names
        if re.match(r"_[a-zA-Z]", alias.name) and f"{node.module}.{alias.name}" not in MODULES
    }


def test_no_test_imports_a_private_name():
    paths = Path(__file__).resolve().parents[1].rglob("*.py")
    private = {path.name: private_imports(path.read_text(encoding="utf-8")) for path in paths}
    assert {name: names for name, names in private.items() if names} == {}
    assert private_imports("from nbcfast.table.values import _plain, plain") == {
        "nbcfast.table.values._plain"
    }
