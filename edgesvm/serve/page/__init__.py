"""A job to look at: its status, and the page that shows it."""
