"""The browser app: its server by messages, its pages in a real Chromium."""
