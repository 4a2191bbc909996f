"""Rich Text Format (RTF)."""
