"""The browser app behind `tacit serve`; docs/web.md has its message contract."""
