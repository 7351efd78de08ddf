"""What the gateway has to say of itself, as a channel that links take from: the wire of `gateway.notices`."""
