"""What people see in a terminal: output, chat, debates, Ctrl-C."""
