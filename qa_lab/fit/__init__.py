"""Scripts that fit what the product ships: the starter encoder, confidence, follow-up weights."""
