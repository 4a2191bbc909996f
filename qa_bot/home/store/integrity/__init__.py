"""Whether rows are as they were written: checks of the database, of checksums, and the writing of sound copies."""
