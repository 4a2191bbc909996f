"""Training of relation detection and mining of templates."""
