"""The worker process: `python -m adapters.jms.worker FD`. Only what is in here touches JPype and Java."""
