"""The reader of DocBook: its entities, its blocks, tables and synopses, its inline markup as HTML."""
