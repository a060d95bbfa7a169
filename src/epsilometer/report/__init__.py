"""What a reader or a CI is told: the page, its summary in Markdown, and the gate, all from tables and figures."""
