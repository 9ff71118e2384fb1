"""Tables of finished sweeps: kept, brought in and out, and searched again without a device."""
