"""One folder per wire; each fulfils the contract in `adapters.base`."""
