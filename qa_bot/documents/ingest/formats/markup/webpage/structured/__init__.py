"""What a page says to programs beside its text: linked data (JSON-LD) and microdata."""
