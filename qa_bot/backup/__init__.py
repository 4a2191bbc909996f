"""Backups of whole homes: writing, verifying, restoring, keeping the newest, and the schedule.

DIR/objects/ab/abcdef…     files by the sha256 of their content; an unchanged file is stored once
DIR/backups/NAME.json      a backup: path, size, mode and sha256 of each file of the home; NAME is its time
"""
