"""The browser app: its server through messages, its pages in a real Chromium."""
