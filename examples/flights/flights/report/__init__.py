"""The month's report as a PDF: its template, and how that is set."""
