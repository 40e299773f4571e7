"""Run every block of a page in order, as a reader would, in one folder; on the standard library alone.

Usage: python -P readme.py PAGE FOLDER [--installs] [--commands PLACE]
       python -P readme.py --first PAGE PRINTED

FOLDER is the top of a clone, or has its `examples` and `nbcfast/verify_release.py`. `sh` blocks are run
command by command by bash, `python` blocks in one session of this Python, and so are those that the tutorial
draws ("{plot}"). What a page shows is compared with what is printed: a `text` block with the output of the
block before it, or of its own commands, the lines that begin with `$ `. Where a line is "...", lines are left
out. A command is to leave with 0, or with N where its comment says "leaves with N". Where the comment at the
end of a statement of Python begins with a value, that is the value of the statement.

A block below the line `<!-- needs MODULE -->` is run where that module is, and else left out, with a line
that says so: `<!-- needs pyspark -->` asks for Java as well.

With --installs, `pip install` of the blocks is run as well; otherwise it is left out. What is not run here:
the first command's making of the environment, which this Python is of, and the second command, the tests.
With --commands, commands that stand in the folder PLACE come before those beside this Python.
With --first nothing is run: the first `text` block of PAGE is compared with the file PRINTED.

What random coins decide cannot be the same: in the output of COINS a digit stands for any digit.
"""

import ast
import contextlib
import difflib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tokenize
from pathlib import Path

COINS = ("nbcfast response estimate", "response.accuracy", "print(found)")
ENVIRONMENT = "python3 -m venv .venv"  # how the two first commands begin
TESTS = ".venv-test"
LEAVES = re.compile(r"#.*\bleaves with ([0-9])\b")
ELIDED = "..."  # on a line of its own: lines are left out here
LANGUAGE = {"{plot}": "python"}
OPTIONS = re.compile(r"\A(:[a-z-]+:.*\n)+")  # of a block that Sphinx draws
BLOCK = re.compile(
    r"^(?:<!-- needs ([a-z]+) -->\n)?```([a-z]+|\{plot\})\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


def pages(root):
    """README.md, and the pages of docs/ that have blocks."""
    docs = sorted((root / "docs").rglob("*.md"))
    return [root / "README.md", *(path for path in docs if blocks(path.read_text(encoding="utf-8")))]


def short(page):
    """The name of a page in the names of tests: README.md, docs/guides/use.md."""
    return page.as_posix().removeprefix(Path(__file__).resolve().parents[2].as_posix() + "/")


def blocks(text):
    """Language and body of each fenced block; of what only Sphinx reads, such as "{toctree}", none."""
    found = [(language, body) for _, language, body in BLOCK.findall(text)]
    return [(LANGUAGE.get(language, language), OPTIONS.sub("", body)) for language, body in found]


def needs(text):
    """The module that each of these blocks needs, or ""."""
    return [need for need, _, _ in BLOCK.findall(text)]


def missing(need):
    """Why blocks that need a module cannot run here, or ""."""
    if need and importlib.util.find_spec(need) is None:
        return f"{need} is not installed here"
    if need == "pyspark" and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "there is no Java for Spark here"
    return ""


class Reader:
    def __init__(self, folder, installs, page, places):
        self.folder, self.installs, self.page = folder, installs, page
        self.names = {"__name__": "__main__"}
        self.printed = None  # by the block before
        self.coins = False
        self.compared = self.ran = 0
        path = os.pathsep.join((*places, os.path.dirname(sys.executable), os.environ["PATH"]))
        self.environment = {**os.environ, "PATH": path}
        self.environment.pop("COLUMNS", None)

    def block(self, language, body):
        getattr(self, language)(body)

    def sh(self, body):
        self.printed, self.coins = "", False
        for line in commands(body):
            self.printed += self.command(line)

    def command(self, line):
        """What a command prints; it has to leave as README says."""
        if line.startswith(ENVIRONMENT):
            if TESTS in line:
                return ""
            line = line.split(" && ")[-1]
        if "pip install" in line and not self.installs:
            return ""
        line = re.sub(r"(^|[ ;])\.venv/bin/", r"\1", line)
        left = LEAVES.search(line)
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        expected = int(left[1]) if left else 0
        if done.returncode != expected:
            raise AssertionError(f"{line}\nleft with {done.returncode}, not {expected}: {done.stderr}")
        self.ran += 1
        return done.stdout

    def text(self, body):
        if not body.startswith("$ "):
            assert self.printed, f"no output for\n{body}"
            self.compare(body, self.printed)
            return
        for part in re.split(r"^(?=\$ )", body, flags=re.MULTILINE)[1:]:
            lines = part.splitlines(True)
            end = 1
            while lines[end - 1].endswith("\\\n"):
                end += 1
            line = "".join(lines[:end]).removeprefix("$ ").rstrip("\n")
            self.coins = line.startswith(COINS)
            printed = self.command(line)
            if lines[end:]:  # README shows what is worth seeing
                self.compare("".join(lines[end:]), printed)

    def compare(self, shown, printed):
        self.compared += 1
        if self.coins:
            shown, printed = (re.sub(r"[0-9]", "0", text) for text in (shown, printed))
        expect(shown, printed)

    def python(self, body):
        said = comments(body)
        out = io.StringIO()
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(out):
                for statement in ast.parse(body).body:
                    code = ast.Module([statement], [])
                    if not isinstance(statement, ast.Expr):
                        exec(compile(code, self.page, "exec"), self.names)
                        continue
                    at = out.tell()
                    value = eval(compile(ast.Expression(statement.value), self.page, "eval"), self.names)
                    if getattr(value, "shape", None) == ():
                        value = value.item()  # as numbers are written without NumPy
                    shown = out.getvalue()[at:].strip() if out.tell() > at else repr(value)
                    self.value(ast.unparse(statement), shown, said.get(statement.end_lineno, ""))
        finally:
            os.chdir(before)
        self.ran += 1
        self.printed, self.coins = out.getvalue(), False

    def value(self, statement, value, comment):
        """Compare the value of a statement with its comment, if that begins with one."""
        if not re.match(r"""-?[0-9]|[\[{'"(]|(True|False|None|inf)\b|[A-Z][A-Za-z]*\(""", comment):
            return
        self.compared += 1
        start, elided, _ = comment.partition(" ..")
        if any(coins in statement for coins in COINS):
            start, value = (re.sub(r"[0-9]", "0", text) for text in (start, value))
        bare = value.removeprefix("(").removesuffix(")")
        if not (value.startswith(start) if elided else comment.startswith((value, bare))):
            raise AssertionError(f"{statement}\nthe page shows {comment}\nthe value is   {value}")


def commands(body):
    """The commands of a block of sh: lines, with those that continue them and documents that stand there."""
    found, lines = [], body.splitlines()
    while lines:
        line = lines.pop(0)
        while line.endswith("\\"):
            line += "\n" + lines.pop(0)
        here = re.search(r"<<'(\w+)'", line)
        while here and not line.endswith("\n" + here[1]):
            line += "\n" + lines.pop(0)
        if line.strip() and not line.startswith("#"):
            found.append(line)
    return found


def comments(body):
    """Line -> the comment at the end of the statement that reaches there, behind its last bracket."""
    found, first, comment = {}, None, None
    for token in tokenize.generate_tokens(io.StringIO(body).readline):
        if token.type == tokenize.COMMENT:
            comment = token
        elif token.type == tokenize.NEWLINE:  # where a statement ends; lines inside of brackets are NL
            last = token.start[0]
            if comment is not None and comment.start[0] == last:
                text = comment.string.removeprefix("#").strip()
                found |= dict.fromkeys(range(first, last + 1), text)
            first = None
        elif first is None and token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            first = token.start[0]
    return found


def expect(shown, printed):
    """Compare what a page shows with what was printed: in order, and whole but where lines are left out."""
    parts = [[]]
    for line in shown.strip("\n").splitlines():
        if line.strip() == ELIDED:
            parts.append([])
        else:
            parts[-1].append(line.rstrip())
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    start = 0
    for place, part in enumerate(parts):
        text = "\n".join(part).strip("\n")  # blank lines beside those that are left out do not count
        part = text.split("\n") if text else []
        starts = range(start, len(lines) - len(part) + 1)
        if place == 0:
            starts = starts[:1]
        if place == len(parts) - 1 and part:  # an elision at the end leaves nothing to look for
            starts = [one for one in starts if one + len(part) == len(lines)]
        begins = next((one for one in starts if lines[one : one + len(part)] == part), None)
        if begins is None or (len(parts) == 1 and part != lines):
            rest = lines[start:]
            raise AssertionError("\n".join(difflib.unified_diff(part, rest, "shown", "printed", lineterm="")))
        start = begins + len(part)


def read(text, folder, installs=False, page="README.md", places=()):
    """Run them all; how many things were run, and how many compared."""
    reader = Reader(folder, installs, page, places)
    for number, ((language, body), need) in enumerate(zip(blocks(text), needs(text), strict=True), 1):
        if missing(need):
            print(f"{page}, block {number} ({language}) is left out: {missing(need)}")
            continue
        try:
            reader.block(language, body)
        except Exception as error:
            raise AssertionError(f"{page}, block {number} ({language}): {error}") from error
    return reader.ran, reader.compared


def main(arguments):
    first = arguments[0] == "--first"
    page, other = Path(arguments[first]), Path(arguments[first + 1])
    text = page.read_text(encoding="utf-8")
    if first:
        shown = next(body for language, body in blocks(text) if language == "text")
        expect(shown, other.read_text(encoding="utf-8"))
        print(f"prints what {page} shows")
        return
    places = arguments[arguments.index("--commands") + 1 :][:1] if "--commands" in arguments else ()
    ran, compared = read(text, other, "--installs" in arguments, str(page), places)
    print(f"{page}: {ran} commands and blocks run, {compared} outputs compared")


if __name__ == "__main__":
    main(sys.argv[1:])
