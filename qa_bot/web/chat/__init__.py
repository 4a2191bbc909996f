"""Chat over a WebSocket: connections, conversations, frames."""
