"""Handing in a candidate: the form, its place in the queue, and its round until the verdict."""
