"""SVMs trained a batch at a time, on what was found to matter before (Domeniconi & Gunopulos)."""
