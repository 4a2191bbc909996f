"""Verification: a small transformer reads the first passages, whose words then confirm an answer or raise doubts."""
