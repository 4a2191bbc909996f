"""The home folder: configuration, store, index generations, doctor, starter collection."""
