"""Any JMS provider by its own client jars: JPype in a worker process, so that every Java type survives and no JVM runs in ours."""
