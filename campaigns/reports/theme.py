"""The three choices of colour that a visitor has, kept in a cookie."""

from __future__ import annotations

from enum import StrEnum

COOKIE = "theme"


class Theme(StrEnum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"

    @property
    def words(self) -> str:
        return {"system": "Auto", "light": "Light", "dark": "Dark"}[self.value]

    @classmethod
    def read(cls, value: str) -> Theme:
        """Take a cookie or form value; anything unknown follows the system."""
        return cls(value) if value in list(cls) else cls.SYSTEM
