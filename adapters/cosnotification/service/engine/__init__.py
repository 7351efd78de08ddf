"""Queues and dispatch, apart from the CORBA objects that clients see."""
