"""What this device can do at best, measured: the ceilings that targets and rooflines rest on.

`python -m campaigns.evaluator.ceilings --device cpu --json` runs alone, without Django.
"""
