"""How tests publish that are about something else than what the answers give away."""

ANYHOW = ("publish", "--accept-answers")
