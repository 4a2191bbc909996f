"""The trained networks of a conversation model in numpy: answers run them without torch, which only training needs."""
