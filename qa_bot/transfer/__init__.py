"""Export and import: archives of a home, votes as data, conversations as files.

archive      its format and verification           exporting, importing   writing and reading it
judgements   votes as qrels and JSONL              transcripts            a conversation as JSON and Markdown
"""
