"""The admin interface: HTTP for operators and monitoring, off unless `admin.listen` is configured."""
