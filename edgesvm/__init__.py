"""Support vector machines that learn on the device, from a stream seen once, in a fixed number of bytes."""
