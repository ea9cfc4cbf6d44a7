"""What a device allows: profiles, caps on a process, counts of allocator calls."""
