"""The running gateway: hosted services, links, the admin interface, and how they start, change and stop. Start at `appliance.py`."""
