"""Exchanges the whole content of a home for another, so that a crash leaves the old content or the new one."""
