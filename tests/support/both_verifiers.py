"""Changes to what both verifiers run: `verify_release.py` is made of modules that the library imports.

A test that changes how both of them judge has to change the script, and whatever module of the library holds
the name: the room `nbcfast._wire` that defines it, and all that import it from there.
"""

import importlib
import pkgutil
import sys

import nbcfast._wire
from nbcfast import verify_release


def homes(name):
    """The script, the module of the room that defines a name, and those that import it."""
    rooms = [
        importlib.import_module(f"nbcfast._wire.{found.name}")
        for found in pkgutil.iter_modules(nbcfast._wire.__path__)
    ]
    known = {id(vars(module)[name]) for module in rooms if name in vars(module)}
    assert len(known) == 1, f"{name!r} is one thing in nbcfast._wire, got {len(known)}"
    library = [
        module
        for key, module in sorted(sys.modules.items())
        if key.startswith("nbcfast.") and module is not verify_release and id(vars(module).get(name)) in known
    ]
    return [verify_release, *library]


def in_both(patch, name, value):
    """Give a name of the script, or an attribute "Class.name" of one of its names, this value everywhere."""
    first, _, attribute = name.partition(".")
    modules = homes(first)
    if not attribute:
        for module in modules:
            patch.setattr(module, name, value)
        return
    for owner in {id(getattr(module, first)): getattr(module, first) for module in modules}.values():
        patch.setattr(owner, attribute, value)
