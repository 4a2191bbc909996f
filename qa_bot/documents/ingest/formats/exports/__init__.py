"""What other programs export: Confluence, Notion, Slack, MediaWiki, WordPress."""
