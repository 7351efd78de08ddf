"""Traffic to look at: a supplier of telecom alarms, and a screen that shows the messages that they became."""
