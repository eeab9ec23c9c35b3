"""A recorded run as a page that follows it: loss, batch, parts of a step, ranks, and the doctor.

record files that grow  ->  Follower  ->  Scene, bounded however long the run is  ->  page

The page asks no other host, and a copy of it is one file.
"""

from batchlab.dashboard._copy import View, show
from batchlab.dashboard._follow import Follower
from batchlab.dashboard._live import Live, follow
from batchlab.dashboard._page import page
from batchlab.dashboard._scene import Scene
from batchlab.dashboard._server import server

__all__ = ["Follower", "Live", "Scene", "View", "follow", "page", "server", "show"]
