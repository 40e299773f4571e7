"""The directive {plot}: a block of Python that is run when the documentation is built, above what it draws.

The blocks of a page are run in order in one namespace, in a folder that has the `examples` of a clone. A
fault ends the build where warnings do. `:alt:` says in words what is drawn.
"""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import matplotlib
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

matplotlib.use("agg")
import matplotlib.pyplot as plt

STYLE = {
    "figure.figsize": (7, 3.2),
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
FOLDER = "_drawn"
namespaces = {}  # of each page, and how many figures it has so far
place = tempfile.TemporaryDirectory(prefix="nbcfast-docs-")  # removed with the process


class Plot(SphinxDirective):
    has_content = True
    option_spec = {"alt": directives.unchanged}  # noqa: RUF012  what docutils asks for

    def run(self):
        page = self.env.docname
        code = "\n".join(self.content)
        block = nodes.literal_block(code, code, language="python")
        self.set_source_info(block)
        if page not in namespaces:
            shutil.copytree(
                Path(self.env.srcdir).parent / "examples", Path(place.name) / "examples", dirs_exist_ok=True
            )
            namespaces[page] = {"__name__": "__main__"}, []
        names, drawn = namespaces[page]
        plt.close("all")
        try:
            with contextlib.chdir(place.name), plt.rc_context(STYLE), open(os.devnull, "w") as nowhere:
                with contextlib.redirect_stdout(nowhere):
                    exec(compile(code, page, "exec"), names)
                figures = [self.save(number, drawn, page) for number in plt.get_fignums()]
        except Exception as error:
            raise self.error(f"{{plot}}: {type(error).__name__}: {error}") from error
        return [block, *figures]

    def save(self, number, drawn, page):
        """Write a figure beside the pages; the node that shows it."""
        name = f"{page.replace('/', '-')}-{len(drawn) + 1}.png"
        drawn.append(name)
        folder = Path(self.env.srcdir) / FOLDER
        folder.mkdir(exist_ok=True)
        plt.figure(number).savefig(folder / name, dpi=160)
        if "alt" not in self.options:
            raise ValueError("expected :alt:, what the figure shows in words")
        return nodes.image(uri=f"/{FOLDER}/{name}", alt=self.options["alt"], width="100%", classes=["drawn"])


def setup(app):
    app.add_directive("plot", Plot)
    app.connect("env-before-read-docs", lambda app, env, pages: namespaces.clear())
    return {"parallel_read_safe": False}
