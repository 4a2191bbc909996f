"""Boxes that blogs and help centres put around their articles: shares, votes, authors, related articles, forms.

Only classes of certain programs are listed, and names that say nothing else.
"""

from __future__ import annotations

_PLUGINS = (
    ".sharedaddy, .jp-relatedposts, .yarpp-related, .crp_related, .comment-respond, .saboxplugin-wrap, "
    ".wp-block-comments, .wp-block-post-author, .wp-block-post-author-biography, .wp-block-post-comments-form, "
    ".kk-star-ratings, .post-ratings, .rmp-widgets-container, .heateor_sss_sharing_container, .a2a_kit, .essb_links, "
    ".bsf-rt-reading-time, .lwptoc, .post-navigation, .elementor-widget-share-buttons, .elementor-widget-author-box, "
    ".elementor-widget-post-navigation, .elementor-widget-post-comments"
)
"""Of WordPress."""
_KNOWLEDGE_BASES = (
    ".betterdocs-article-reactions, .betterdocs-social-share, .betterdocs-feedback-form, .ht-voting, "
    ".hkb-article__related, .hkb-feedback, .wedocs-feedback-wrap, .wedocs-contact-modal, "
    ".eckb-article-content-footer__article-rating"
)
"""Of WordPress, too."""
_HELP_CENTRES = (
    ".articleRatings, .articleFoot, section.related, "  # Help Scout
    ".article-relatives, .article-subscribe, .article-votes-count, .article-share, .comment-overview, "  # Zendesk
    "section.related-articles, section.recent-articles"
)
_AUTHORS = ".author-box, .author-bio, .author-info, .about-author, .about-the-author, .post-author-box, .authorbox"
SITE_BOXES = f"{_PLUGINS}, {_KNOWLEDGE_BASES}, {_HELP_CENTRES}, {_AUTHORS}"
