"""Follow-up questions made to stand alone: "and its population?" after "What is the capital of Australia?"."""

from qa_bot.conversation.followups.mentions import Exchange as Exchange
from qa_bot.conversation.followups.rewriter import Rewriter as Rewriter
from qa_bot.conversation.followups.rewriter import Rewritten as Rewritten
