"""`bench faults`: break what kopt stands on, one thing at a time, and see what is lost."""
