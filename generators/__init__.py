"""Speaking: replies of a conversation model, voices of personas, and topics that steer them."""
