"""Our Notification Service, called over IIOP from another process."""
