"""Run every block of README.md in order, as a reader would, in one folder; on the standard library alone.

Usage: python -P readme.py README.md FOLDER [--installs]

FOLDER is the top of a clone, or has its `examples` and `nbcfast/verify_release.py`. `sh` blocks are run
command by command by bash, `python` blocks in one session of this Python. What README shows is compared with
what is printed: a `text` block with the output of the block before it, or of its own commands, the lines that
begin with `$ `. A command is to leave with 0, or with N where its comment says "leaves with N". Where the
comment of a statement of Python begins with a value, that is the value of the statement.

With --installs, `pip install` of the blocks is run as well; otherwise it is left out. What is not run here:
the first command's making of the environment, which this Python is of, and the second command, the tests.

What random coins decide cannot be the same: in the output of COINS a digit stands for any digit.
"""

import ast
import contextlib
import difflib
import io
import os
import re
import subprocess
import sys
import tokenize
from pathlib import Path

COINS = ("nbcfast estimate", "response.accuracy", "print(found)")
ENVIRONMENT = "python3 -m venv .venv"  # how the two first commands begin
TESTS = ".venv-test"
LEAVES = re.compile(r"#.*\bleaves with ([0-9])\b")
ELIDED = "..."  # on a line of its own: lines are left out here


def blocks(text):
    """Language and body of each fenced block."""
    return re.findall(r"^```([a-z]+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class Reader:
    def __init__(self, folder, installs):
        self.folder, self.installs = folder, installs
        self.names = {"__name__": "__main__"}
        self.printed = None  # by the block before
        self.coins = False
        self.compared = self.ran = 0
        binaries = os.path.dirname(sys.executable)
        self.environment = {**os.environ, "PATH": binaries + os.pathsep + os.environ["PATH"]}
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
        ended = shown.rstrip().endswith(ELIDED)
        shown = [line.rstrip() for line in shown.rstrip().removesuffix(ELIDED).rstrip().splitlines()]
        printed = [line.rstrip() for line in printed.rstrip().splitlines()]
        if ended:
            printed = printed[: len(shown)]
        if self.coins:
            shown, printed = ([re.sub(r"[0-9]", "0", line) for line in lines] for lines in (shown, printed))
        if shown != printed:
            raise AssertionError(
                "\n".join(difflib.unified_diff(shown, printed, "shown", "printed", lineterm=""))
            )

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
                        exec(compile(code, "README.md", "exec"), self.names)
                        continue
                    at = out.tell()
                    value = eval(compile(ast.Expression(statement.value), "README.md", "eval"), self.names)
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
        if not re.match(r"""[0-9\['"(]|True|False|[A-Z][A-Za-z]*\(""", comment):
            return
        self.compared += 1
        start, elided, _ = comment.partition(" ..")
        if any(coins in statement for coins in COINS):
            start, value = (re.sub(r"[0-9]", "0", text) for text in (start, value))
        bare = value.removeprefix("(").removesuffix(")")
        if not (value.startswith(start) if elided else comment.startswith((value, bare))):
            raise AssertionError(f"{statement}\nREADME shows {comment}\nvalue is     {value}")


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
    """Line -> its comment."""
    tokens = tokenize.generate_tokens(io.StringIO(body).readline)
    return {
        token.start[0]: token.string.removeprefix("#").strip()
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def read(readme, folder, installs=False):
    """Run them all; how many things were run, and how many compared."""
    reader = Reader(folder, installs)
    for number, (language, body) in enumerate(blocks(readme), 1):
        try:
            reader.block(language, body)
        except Exception as error:
            raise AssertionError(f"README.md, block {number} ({language}): {error}") from error
    return reader.ran, reader.compared


if __name__ == "__main__":
    ran, compared = read(
        Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[2], "--installs" in sys.argv[3:]
    )
    print(f"README.md: {ran} commands and blocks run, {compared} outputs compared")
