"""The ledger: plain frozen types that the rooms exchange, and the columns that are stored."""
