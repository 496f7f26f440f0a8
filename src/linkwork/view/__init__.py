"""Pictures, films, replays and the live page. Everything but the page works without a display or a browser."""
