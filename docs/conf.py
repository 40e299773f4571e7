"""Sphinx builds this documentation: `python -m sphinx -W -b html docs build/docs`. Nothing is fetched."""

import importlib
import importlib.metadata
import pkgutil
import shutil
import sys
from pathlib import Path

import nbcfast
import nbcfast.cli

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "tools")]  # `drawn`; `walk`
for module in pkgutil.iter_modules(nbcfast.cli.__path__, "nbcfast.cli."):
    importlib.import_module(module.name)  # whose verbs register themselves

project = "nbcfast"
author = "the nbcfast project"
copyright = "the nbcfast project, Apache-2.0"
version = release = nbcfast.__version__

extensions = [
    "drawn",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
]
myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
exclude_patterns = ["_drawn"]
myst_heading_anchors = 3
smartquotes = False  # or options would begin with a dash

autosummary_generate = True
autodoc_typehints = "none"  # docstrings say the types
numpydoc_show_class_members = False  # they follow, with their docstrings
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = "nbcfast"
html_static_path = ["_static"]
html_css_files = ["nbcfast.css"]
html_sidebars = {page: [] for page in ("index", "threat-model", "tutorial")}
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
copybutton_prompt_text = "$ "

man_pages = [("reference/command-line", "nbcfast", "publish naive Bayes classifiers and tables", "", 1)]

# MathJax comes from a package, and only what is needed is copied: nothing is fetched by who reads, either.
mathjax_path = "mathjax/tex-chtml.js"
MATHJAX = ["tex-chtml.js", "output/chtml/fonts/woff-v2"]


def copy_mathjax(app, error):
    if error is not None or app.builder.format != "html":
        return
    files = importlib.metadata.distribution("sphinx-mathjax-offline").files
    top = next(Path(file.locate()).parent for file in files if file.name == "tex-chtml.js")
    for name in MATHJAX:
        source, target = top / name, Path(app.outdir) / "_static" / "mathjax" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, target)


def is_skipped(app, what, name, obj, skip, options):
    """Leave out what scikit-learn writes into its estimators, in words that point to pages of its own."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def setup(app):
    app.connect("autodoc-skip-member", is_skipped)
    app.connect("build-finished", copy_mathjax)
