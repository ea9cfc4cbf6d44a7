"""SVMs trained one batch at a time (Domeniconi & Gunopulos 2001)."""
