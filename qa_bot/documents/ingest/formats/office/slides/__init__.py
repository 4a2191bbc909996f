"""Presentations of PowerPoint (PPTX)."""
