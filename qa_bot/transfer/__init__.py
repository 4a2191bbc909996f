"""What leaves a home and what joins one: archives of everything, votes as data, conversations to take along.

archive      the file, and how it is verified      exporting, importing   written and read
judgements   votes as qrels and JSONL              transcripts            a conversation as JSON and Markdown
"""
