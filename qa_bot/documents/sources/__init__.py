"""Sources: folders, files and archives that were added, and how they are compared and kept in step."""
