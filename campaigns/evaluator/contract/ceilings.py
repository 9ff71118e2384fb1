"""Measured ceilings of a device: what the measuring process prints, and the document of it."""

from campaigns.evaluator.ceilings.choice import BUSY_LIMIT
from campaigns.evaluator.ceilings.document import to_markdown
from campaigns.evaluator.ceilings.result import CeilingsError, MeasuredCeiling, Result, load

__all__ = ["BUSY_LIMIT", "CeilingsError", "MeasuredCeiling", "Result", "load", "to_markdown"]
