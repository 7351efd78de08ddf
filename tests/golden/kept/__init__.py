"""Files that earlier versions have left on disk: every later version must go on with them.

`python -m tests.golden.kept.make` writes those of this version to `tests/golden/data/kept/VERSION`, once, when it is released;
what is there for earlier versions is never written again.
"""
