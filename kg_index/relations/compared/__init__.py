"""Networks that relation detection is compared with (Wang 2018, table 4.2): each scores a question and a relation."""
