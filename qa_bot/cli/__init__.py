"""The command line: parses arguments, calls the product, prints results."""
