"""What the rows of repositories keep as JSON, as values."""
