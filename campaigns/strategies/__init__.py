"""Search of a space of variants: ask for points, tell how each went. No device, no database."""
