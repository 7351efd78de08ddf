"""The appliance: settings, event domain, links, admin, command line."""
