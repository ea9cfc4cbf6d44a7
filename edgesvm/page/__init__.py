"""A run or a watch to look at: its status, the page that shows it, and the terminal's screen."""
