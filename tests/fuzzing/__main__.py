"""`python -m tests.fuzzing`; see `campaign`."""

from tests.fuzzing.campaign import main

if __name__ == "__main__":
    main()
