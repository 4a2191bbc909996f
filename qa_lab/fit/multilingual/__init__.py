"""Makes the encoder of other languages than English from a published one."""
