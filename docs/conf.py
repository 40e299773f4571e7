"""Sphinx builds this documentation: `python -m sphinx -W -b html docs build/docs`. Nothing is fetched."""

import importlib.metadata
import re
import shutil
import tempfile
from pathlib import Path

import nbcfast

HERE = Path(__file__).parent

project = "nbcfast"
author = "the nbcfast project"
copyright = "the nbcfast project, Apache-2.0"
version = release = nbcfast.__version__

extensions = [
    "matplotlib.sphinxext.plot_directive",
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
myst_heading_anchors = 3
nitpicky = False
suppress_warnings = ["config.cache"]

autosummary_generate = True
autodoc_typehints = "none"  # docstrings say the types
numpydoc_show_class_members = True
numpydoc_show_inherited_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "nbcfast"
html_static_path = ["_static"]
html_css_files = ["nbcfast.css"]
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

# The tutorial's figures: its blocks are run in order in a folder that has what a clone has.
plot_include_source = True
plot_html_show_formats = False
plot_html_show_source_link = False
plot_formats = [("png", 144)]
plot_rcparams = {
    "figure.figsize": (7, 3.4),
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
plot_working_directory = tempfile.mkdtemp(prefix="nbcfast-docs-")

# MathJax comes from a package, and only the part that is needed is copied: readers fetch nothing either.
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


def lend_examples(app):
    shutil.copytree(HERE.parent / "examples", Path(plot_working_directory) / "examples", dirs_exist_ok=True)


def take_back(app, error):
    shutil.rmtree(plot_working_directory, ignore_errors=True)


def bars_are_bars(app, what, name, obj, options, lines):
    """|x| in a docstring is an absolute value, and no substitution."""
    lines[:] = [re.sub(r"(?<![`\w])\|(?=\S)([^|`]*\S)\|(?![`\w])", r"``|\1|``", line) for line in lines]


def setup(app):
    app.connect("builder-inited", lend_examples)
    app.connect("build-finished", copy_mathjax)
    app.connect("build-finished", take_back)
    app.connect("autodoc-process-docstring", bars_are_bars, priority=600)
