"""Questions that people ask about their own documents: grades of answers, and the stage that loses an answer."""
