"""CORBA Notification Service channels, through omniORBpy."""
