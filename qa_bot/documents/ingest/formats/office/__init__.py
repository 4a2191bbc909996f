"""Word processors, slides and spreadsheets."""
