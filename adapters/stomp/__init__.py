"""JMS brokers by way of STOMP 1.2, through stomp.py under a supervisor of our own."""
