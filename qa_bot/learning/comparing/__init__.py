"""Blind comparison of two sides, A and B: which answer do people prefer?

sides        answer files and configurations → answers      comparison  the pairs, and where a home keeps them
judgements   what judges said, a line each                  judging     one pair after another in a terminal
blind        which answer stands first, for whom            tables      shares and significance, by grade
display      what a terminal shows
"""
