"""What the team learns from a campaign, and what a campaign reads of it."""
