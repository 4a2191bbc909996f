"""What the tests of the chat look at in a service."""

from __future__ import annotations

from qa_bot.web.chat.socket import CHAT

CATS = "Why do cats sleep all day?"


def turns(service, conversation):
    return service.bot.store.turns(conversation)


def chat_of(service):
    return service.running.app[CHAT]
