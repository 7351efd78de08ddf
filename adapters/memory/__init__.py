"""The in-memory twin of every wire: it fulfils the contract of `adapters.base`, deliveries, faults and all."""
