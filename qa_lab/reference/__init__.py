"""Reference pipelines that the product is compared with: simple, in memory, over the product's own readers."""
