"""Finding candidates: query formulation, keyword and dense indexes, fusion."""
