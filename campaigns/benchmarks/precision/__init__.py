"""How good the judge's clock is on this device.

`measure` asks three questions. Does the slope of bursts agree with the driver's tracer, with CUDA
events, and with itself in another session? When a kernel is compared with itself, how often is a
change claimed (A/A)? And when one is faster by a few percent (`known_gain`), how often is that
seen? `page` writes the report.
"""
