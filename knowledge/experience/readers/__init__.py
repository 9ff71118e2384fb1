"""PURE: files of other systems and of our own, as drafts of attempts, lessons and gaps."""
