"""The event domain: channels joined by links, a directed graph in which nothing may go round or arrive twice unless allowed.

graph.py    the graph, and the cycle or diamond that one more link would make
"""
