"""What a leaf is worth: evaluators of the public belief states beyond a depth limit."""
