"""The running gateway: hosted services, links, admin interface, and how they start, change and stop. Start at `appliance.py`."""
