"""Commands that change documents and their encoder, and commands about the sources they come from."""
