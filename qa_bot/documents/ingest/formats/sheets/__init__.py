"""Spreadsheets and files of separated values: tables, and sheets of questions with their answers."""
