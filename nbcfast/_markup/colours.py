"""The colours of everything that is shown, for light and for dark screens.

Blue is what is published, grey what was before, rust are points; green, amber and red are states and nothing
else, and never without their mark and word. Texts have a contrast of at least 4.5 to 1 with what they stand
on, and marks of 3 to 1, which a test computes.
"""

LIGHT = {
    "paper": "#f7f6f2",
    "card": "#ffffff",
    "well": "#f2f0ea",
    "ink": "#1b1c20",
    "muted": "#5a5b61",
    "line": "#dedad0",
    "before": "#85858f",
    "after": "#23699b",
    "points": "#b4501a",
    "band": "#e9eff5",
    "kept": "#17734a",
    "kept-well": "#e4f3ea",
    "warned": "#8f5b00",
    "warned-well": "#fbf0d9",
    "shows": "#ae2219",
    "shows-well": "#fdebe8",
    "unmeasured": "#5b5f69",
    "unmeasured-well": "#ebebee",
}
DARK = {
    "paper": "#14161a",
    "card": "#1c1f25",
    "well": "#252931",
    "ink": "#e9e7e2",
    "muted": "#abadb4",
    "line": "#383d46",
    "before": "#888d98",
    "after": "#62abde",
    "points": "#e2884f",
    "band": "#222c37",
    "kept": "#5dc593",
    "kept-well": "#173226",
    "warned": "#e3b255",
    "warned-well": "#382c12",
    "shows": "#f28a80",
    "shows-well": "#401d1a",
    "unmeasured": "#a9adb7",
    "unmeasured-well": "#2a2d34",
}


def contrast(one: str, other: str) -> float:
    """How far apart two colours are to the eye, from 1 to 21: the contrast ratio of WCAG 2.

    Examples
    --------
    >>> contrast("#000000", "#ffffff")
    21.0
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
