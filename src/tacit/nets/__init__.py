"""Networks over public belief states."""
