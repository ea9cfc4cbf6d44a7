"""Core and ball vector machines (Tsang, Kocsor & Kwok 2007)."""
