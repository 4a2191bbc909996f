"""What passages gain or lose by what a question asks for, beside the evidence of the searches."""
