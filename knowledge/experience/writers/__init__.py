"""Stored experience as JSON, CSV and Markdown."""
