"""The bot over HTTP: the chat page and its WebSocket, JSON, OpenAI-style and LiveQA services, in one process."""
