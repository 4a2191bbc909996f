"""What a page says in structures that its elements do not name: linked data, definitions and rows without tags."""
