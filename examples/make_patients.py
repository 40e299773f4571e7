"""Write patients.csv: synthetic patients of a diabetes clinic, no real person among them.

Usage: python make_patients.py [FOLDER]

The same bytes come out on every run and every machine: one fixed seed, integer weights, the standard
library only.
"""

import csv
import random
import sys
from pathlib import Path

SEED = 1729
ROWS = 5_000
HEADER = (
    "age",
    "sex",
    "bmi",
    "smoking",
    "blood_pressure",
    "glucose",
    "relatives",
    "exercise_days",
    "diagnosis",
)

AGES = ("18-29", "30-39", "40-49", "50-59", "60-69", "70+")
SEXES = ("female", "male")
BMIS = ("underweight", "normal", "overweight", "obese")
SMOKING = ("never", "former", "current")
PRESSURES = ("normal", "elevated", "high")
GLUCOSES = ("low", "normal", "raised", "high")
RELATIVES = (0, 1, 2, 3)  # parents and siblings with diabetes
EXERCISE_DAYS = (0, 1, 2, 3, 4, 5)  # a week


def draw(rng, values, weights):
    """One of `values`, each as likely as its weight."""
    left = rng.random() * sum(weights)
    for value, weight in zip(values, weights, strict=True):
        left -= weight
        if left < 0:
            return value
    return values[-1]


def patient(rng):
    """One row: habits follow age, blood pressure follows habits, and the diagnosis follows them all."""
    age = draw(rng, AGES, (12, 14, 18, 21, 20, 15))
    decade = AGES.index(age)
    sex = draw(rng, SEXES, (52, 48))
    exercise = draw(
        rng, EXERCISE_DAYS, (12 + 3 * decade, 14 + 2 * decade, 18, 20 - decade, 16 - 2 * decade, 12 - decade)
    )
    bmi = draw(rng, BMIS, (5, 40 + 4 * exercise - 3 * decade, 32 + decade, 24 + 3 * decade - 3 * exercise))
    smoking = draw(rng, SMOKING, (55, 12 + 4 * decade, 30 - 3 * decade if sex == "male" else 24 - 3 * decade))
    load = 2 * decade + 3 * BMIS.index(bmi) + 2 * SMOKING.index(smoking) - exercise
    pressure = draw(rng, PRESSURES, (50 - 2 * load, 22, 12 + 2 * load))
    relatives = draw(rng, RELATIVES, (58, 26, 11, 5))

    risk = (
        4 * decade
        + (2 if sex == "male" else 0)
        + (0, 0, 5, 13)[BMIS.index(bmi)]
        + (0, 2, 4)[SMOKING.index(smoking)]
        + (0, 3, 7)[PRESSURES.index(pressure)]
        + 6 * relatives
        - 2 * exercise
    )
    # Near enough to a bell; added by hand, because sum() rounds floats differently since Python 3.12.
    luck = 10 * (rng.random() + rng.random() + rng.random() + rng.random()) - 20
    diabetes = risk + luck > 24
    # Nobody healthy has a high glucose and nobody with diabetes a low one: two counts are zero.
    glucose = draw(rng, GLUCOSES, (0, 12, 38, 50) if diabetes else (8, 70, 22, 0))
    return (
        age,
        sex,
        bmi,
        smoking,
        pressure,
        glucose,
        relatives,
        exercise,
        "diabetes" if diabetes else "healthy",
    )


def main(folder):
    """Write patients.csv into `folder`."""
    rng = random.Random(SEED)
    with open(Path(folder) / "patients.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(patient(rng) for _ in range(ROWS))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent)
