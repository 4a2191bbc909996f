"""The health of a home for operators: generations, sources, disk, backup; and the service that runs over it."""
