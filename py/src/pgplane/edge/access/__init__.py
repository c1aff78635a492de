"""Access: who may ask, and see what, by a token's header or a ticket."""
