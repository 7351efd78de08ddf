"""The rules of the papers: values in, values out. No sockets, threads, clocks, files or brokers."""
