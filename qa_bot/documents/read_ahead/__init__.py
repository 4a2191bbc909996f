"""Reads ahead: further processes read and cut the next text files of a run while this one stores the files before."""
