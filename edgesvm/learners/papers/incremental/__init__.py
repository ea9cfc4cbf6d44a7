"""SVMs trained one batch at a time, on the previous support vectors and the batch (Domeniconi &
Gunopulos)."""
