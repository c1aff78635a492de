"""Replies: how a job's answer finds those who wait for it, and what they are told."""
