"""A live page that runs for hours while everything happens to it."""
