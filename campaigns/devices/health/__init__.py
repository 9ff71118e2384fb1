"""What this host has, what is missing, what that costs and how to get it."""
