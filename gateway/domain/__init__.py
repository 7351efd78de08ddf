"""The event domain: channels joined by connections, a directed graph in which nothing may go round or arrive twice unless allowed.

The pure part of the OMG's Management of Event Domains: no CORBA, no clocks, no files.

event_domain.py        EventDomain: members, connections, defaults, rules; one method for each operation of the IDL interface
event_domains.py       EventDomains: what an EventDomainFactory knows
connection.py          Connection and the enumerations of CosEventDomainAdmin
qos.py, errors.py      CycleDetection and DiamondDetection; the exceptions, which carry the offending paths
persistence.py         a domain as JSON data and back

graph.py               vertices and edges, no rules
topological_order.py   no cycles, where diamonds may be (Pearce and Kelly)
single_paths.py        no diamonds, with or without cycles
cycles.py              enumeration of elementary cycles (Johnson), bounded
diamonds.py, routes.py enumeration of diamonds (dominators) and of simple routes (Yen), bounded
copies.py              how often an event arrives, where diamonds are allowed
drawing.py             a domain as text for Mermaid or Graphviz
"""
