"""Bring experience in: plan it, answer what is unknown, confirm it, and take it back as one."""
