"""The auditors: how large epsilon must be, exactly or with a confidence bound."""
