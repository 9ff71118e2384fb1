"""The pages of a sweep: the panel of its round while it runs, and the table of every point."""
