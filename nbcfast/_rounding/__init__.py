"""From shares to whole rows that decide alike."""
