"""Tables and figures of papers, beside the papers' numbers."""
