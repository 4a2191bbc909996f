"""Blind comparison of two sides, A and B: which answers do people prefer?

sides        answer files and configurations → answers      comparison  the pairs, and their file in a home
judgements   the judges' decisions, a line each             judging     one pair after another in a terminal
blind        which answer is shown first to whom            tables      shares and significance, by grade
"""
