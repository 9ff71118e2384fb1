"""The kernel as it is now."""
