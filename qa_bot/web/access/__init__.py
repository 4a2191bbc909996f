"""Who may ask: known hosts and origins, tokens, rates, proxies, and the headers that bind browsers."""
