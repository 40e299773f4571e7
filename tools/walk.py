"""Walk through the rooms with a job: which room of nbcfast calls into which, and how often.

    python tools/walk.py [METHOD ...]

A room is a folder of nbcfast/. Every call of a function by one of another room is a switch: what a function
of the standard library or of NumPy calls in between counts for the room that it works for, and so does each
step of a generator. Other threads are not seen. Of each method the rooms are printed in the order in which
they are first entered, with the switches into them; and to which others the first of them hands over, one
after the other. The tables are those of examples/, and what is written goes to a folder that is removed.
"""

import re
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import nbcfast
from nbcfast import associations, canonical, closeness, response, templates
from nbcfast.skyline import anonymize

PACKAGE = Path(nbcfast.__file__).parent
ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
THREE = ["age", "glucose", "relatives"]
JOB = "job"  # who calls, where that is none of the rooms
MOST_CELLS = 200  # of a picture, from left to right: each is wider than a pixel
BLUE, GREY, WHITE = np.array([(31, 119, 180), (217, 217, 217), (255, 255, 255)]) / 255
FAINTEST = 0.5  # share of blue of a room that works at all in a cell: less could not be seen


class Walk:
    """The way of a job through the rooms.

    Attributes
    ----------
    calls : list of (str, str)
        The calling room and the called one, of every call from one to another.
    places : list of tuple of str
        Where the job is, one place after the other: other than in `calls` with the ways back. Each is the
        rooms that wait for another, from the outermost, and that which works, last.
    """

    def __init__(self):
        self.calls, self.places = [], []

    @property
    def switches(self):
        return len(self.calls)

    @property
    def entered(self):
        """How often each room is called by another, in the order of the first call."""
        return Counter(called for _, called in self.calls)

    @property
    def top(self):
        """The room that the job is left to; the job itself where it calls several."""
        called = set(self.handed_over(JOB))
        return called.pop() if len(called) == 1 else JOB

    def handed_over(self, room):
        """The rooms that this one calls, in their order; of calls of one room after another the first."""
        order = []
        for caller, called in self.calls:
            if caller == room and order[-1:] != [called]:
                order.append(called)
        return order


def room_of(filename, package=PACKAGE):
    """The room that a file is in; of a module at the top of the package its name; None of other files."""
    try:
        parts = Path(filename).relative_to(package).with_suffix("").parts
    except ValueError:
        return None
    return parts[0]


def walk(job, package=PACKAGE):
    """Run a job, twice, and follow the second time: imports are made in the first."""
    job()
    way, rooms = Walk(), {}
    stack = [(JOB,)]  # of each frame the rooms from the job to its own
    way.places.append(stack[0])

    def follow(frame, event, _):
        if event == "call":
            filename = frame.f_code.co_filename
            if filename not in rooms:
                rooms[filename] = room_of(filename, package)
            caller, room = stack[-1], rooms[filename]
            stack.append(caller if room in (None, caller[-1]) else (*caller, room))
            if stack[-1] is not caller:
                way.calls.append((caller[-1], room))
                way.places.append(stack[-1])
        elif event == "return" and len(stack) > 1:
            left = stack.pop()
            if stack[-1] is not left:
                way.places.append(stack[-1])

    sys.setprofile(follow)
    try:
        job()
    finally:
        sys.setprofile(None)
    return way


def read_few():
    return nbcfast.read_csv(EXAMPLES / "patients.csv").select([*THREE, "diagnosis"])


def release_to(folder):
    """From the file to the folder of a canonical release of three attributes."""
    views = nbcfast.count(read_few(), "diagnosis")
    canonical.release(views, 4, class_name="diagnosis").save(folder, overwrite=True)


@contextmanager
def methods():
    """Name -> the job of each method; a job can be run again."""
    few = read_few()
    views = nbcfast.count(few, "diagnosis")
    prior = {"diabetes": "0.3", "healthy": "0.7"}
    survey = nbcfast.read_csv(EXAMPLES / "survey.csv")
    scheme = response.Scheme("0.8", [["smokes"], ["drinks"]])
    limits = [templates.Template(["age", "relatives"], ("diagnosis", "diabetes"), "0.5")]
    tables = [("age", "glucose"), ("glucose", "diagnosis")]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "release"
        release_to(folder)
        yield {
            "release and save": lambda: release_to(folder),
            "verify": lambda: nbcfast.verify(folder),
            "nbcfast.publish": lambda: nbcfast.publish(few, "diagnosis", amplification=4),
            "canonical.release": lambda: canonical.release(views, 4),
            "safety_transform": lambda: nbcfast.safety_transform(views, 4),
            "closeness.est": lambda: closeness.est(views, prior, 4),
            "skyline.anonymize": lambda: anonymize(few, THREE, "diagnosis", [(0, 1, 0, "0.9")], k=50),
            "templates.disclose": lambda: templates.disclose(few, limits, "glucose"),
            "response.disguise": lambda: response.disguise(survey, scheme),
            "associations.risk": lambda: associations.risk(few, tables, "age", "diagnosis"),
        }


def floors(page=ROOT / "docs" / "architecture.md"):
    """The rooms from the basement up, as the table of floors in the page on architecture names them."""
    rows = re.findall(r"^\| \d+ \|([^|]*)\|", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [room for row in reversed(rows) for room in re.findall(r"`(\w+)`", row)]


def shares(places, room, most=MOST_CELLS):
    """Of `most` cells in a row, or one a place, the share of their places where a room works, and waits."""
    edges = np.linspace(0, len(places), min(len(places), most) + 1).astype(int)
    works = [place[-1] == room for place in places]
    waits = [room in place[:-1] for place in places]
    return [np.add.reduceat(np.array(of, float), edges[:-1]) / np.diff(edges) for of in (works, waits)]


def draw(axes):
    """Draw the walks of methods, {name: axis}: when each room works, and in grey when it waits."""
    order = [*reversed(floors()), JOB]
    with methods() as jobs:
        for name, axis in axes.items():
            way = walk(jobs[name])
            rooms = sorted({place[-1] for place in way.places} - {JOB}, key=order.index, reverse=True)
            for height, room in enumerate(rooms):
                works, waits = (share[:, None] for share in shares(way.places, room))
                blue = np.where(works > 0, np.maximum(works, FAINTEST), 0)
                cells = blue * BLUE + (1 - blue) * np.where(waits > 0, GREY, WHITE)
                extent = (0, len(way.places), height - 0.4, height + 0.4)
                axis.imshow(cells[None], aspect="auto", interpolation="nearest", extent=extent)
            axis.set_yticks(range(len(rooms)), rooms, fontsize=7)
            axis.set_xticks([])
            axis.set_xlim(0, len(way.places))
            axis.set_ylim(-0.6, len(rooms) - 0.4)
            axis.set_title(f"{name}: {way.switches} switches", fontsize=9, loc="left")


def main(wanted):
    with methods() as jobs:
        unknown = [name for name in wanted if name not in jobs]
        if unknown:
            print(f"expected methods of {', '.join(jobs)}; got {unknown[0]!r}", file=sys.stderr)
            return 2
        for name in wanted or jobs:
            way = walk(jobs[name])
            print(f"{name}: {way.switches} switches")
            for room, number in way.entered.items():
                print(f"  {number:6,}  {room}")
            print(f"  {way.top} hands over to {', '.join(way.handed_over(way.top))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
