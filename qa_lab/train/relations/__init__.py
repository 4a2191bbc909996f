"""`qa-bot train relations`, which trains relation scorers, and `qa-bot kg mine`, which mines templates for it."""
