"""Playing captured traffic into a link, by a plan that Spark made.

plan_source.py   the plan as the source of a link: paced, resumable
player.py        a link between the two, until the plan is played
"""
