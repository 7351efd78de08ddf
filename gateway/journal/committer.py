"""The one thread that writes: take everything queued, one write, one sync, then tell those who wait.

While the disk cannot take a write (full, read-only, broken) it holds: nothing is dropped, nobody is told "safe", and it tries again
by itself. Cursors are written and settled segments deleted all the while, because that is what makes room.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from gateway.journal.board import Board, Group
from gateway.journal.cursor_keeper import CursorKeeper
from gateway.journal.disk import Disk
from gateway.journal.errors import JournalError
from gateway.journal.format import HEADER_BYTES
from gateway.journal.observer import JournalObserver
from gateway.journal.only import pass_over
from gateway.journal.options import Options
from gateway.journal.retention import cursors_unwritten, deletable, full, give_up_oldest
from gateway.journal.segments import CUT_SUFFIX, Segment
from gateway.journal.writer import Writer

T = TypeVar("T")

MOST_UNSYNCED_BYTES: Final = 8 * 1024 * 1024  # of records that need no sync of their own
RETENTION_SECS: Final = 5.0  # how often kept segments are looked at


class Committer(Generic[T]):
    def __init__(
        self,
        board: Board[T],
        writer: Writer,
        cursors: CursorKeeper,
        options: Options,
        disk: Disk,
        observer: JournalObserver,
        found: Callable[[JournalError], None],
        name: str,
    ) -> None:
        self._board = board
        self._writer = writer
        self._cursors = cursors
        self._options = options
        self._disk = disk
        self._observer = observer
        self._found = found
        self._older: list[Segment] = list(board.segments)
        self._held_since: float | None = None
        self._pause_secs = options.hold_first_secs
        self._synced_at = self._retained_at = time.monotonic()
        self._committing = False
        self._gave_up = False
        self.unwritten = 0
        """After the end: records that were taken and could not be written. Nobody was told that they are safe."""
        self._thread = threading.Thread(target=self._run, name=f"journal-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def join(self, timeout_secs: float | None) -> bool:
        self._thread.join(timeout_secs)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while (groups := self._await_work()) is not None:
                if groups:
                    self._committing = True
                    self._commit(groups)
                    self._committing = False
                self._look_after()
            self._end()
        except Exception as bug:  # noqa: BLE001 - it must be seen, and appends must not be taken for ever and never written
            self._hold_for_good(bug)
        finally:
            self._writer.close()

    def _await_work(self) -> list[Group[T]] | None:
        """What to write, as much as goes into one write; [] when something else is due; None at the end."""
        board = self._board
        with board.lock:
            while not board.queue and not board.closing:
                due = self._due_secs()
                if due is not None and due <= 0:
                    return []
                board.work.wait(due)
            if not board.queue:
                return None
            return self._take_groups()

    def _take_groups(self) -> list[Group[T]]:
        """With the lock. One append is never split."""
        queue = self._board.queue
        groups: list[Group[T]] = []
        records = size = 0
        while queue:
            appended = queue[0].appended
            if groups and (
                records + len(appended.payloads) > self._options.group_records
                or size + appended.size > self._options.usual_group_bytes
            ):
                break
            records += len(appended.payloads)
            size += appended.size
            groups.append(queue.popleft())
        return groups

    def _commit(self, groups: Sequence[Group[T]]) -> None:
        appended = [group.appended for group in groups]
        size = sum(part.size for part in appended)
        durable = any(group.durable for group in groups)
        written = False
        while not self._gave_up:  # after one was given up none may follow it: order is kept, and gaps mean damage
            try:
                if not written:
                    self._make_room(size)
                    self._writer.write(appended)
                    written = True
                if durable or self._writer.unsynced_bytes > MOST_UNSYNCED_BYTES:
                    self._sync()
                break
            except (OSError, JournalError) as trouble:
                self._gave_up = not self._hold(trouble)
        if self._gave_up:
            self.unwritten += sum(len(part.payloads) for part in appended)
            return
        self._publish(groups, size)
        self._release()
        for group in groups:
            if group.on_safe is not None:
                self._tell(group)

    def _publish(self, groups: Sequence[Group[T]], size: int) -> None:
        board = self._board
        last = groups[-1].appended
        with board.lock:
            board.tail.extend([item for group in groups for item in group.items], size)
            board.queue_bytes -= size
            board.committed = last.first + len(last.payloads) - 1
            for group in groups:
                pass_over(board, group)
            self._publish_segments()
            board.tail.trim(board.settled_by_all(), board.synced)
            board.news.notify_all()

    def _publish_segments(self) -> None:
        """With the lock: what is on disk, and up to which sequence."""
        if self._writer.finished:
            self._older += self._writer.finished
            self._writer.finished.clear()
        newest = self._writer.newest
        if newest is not None:
            # A segment that holds nothing safe is replaced by one of the same first sequence.
            while self._older and self._older[-1].first >= newest.first:
                self._older.pop()
            self._board.segments = (*self._older, newest)
        else:
            self._board.segments = tuple(self._older)
        if not self._writer.unsynced_bytes:
            self._board.synced = self._board.committed

    def _tell(self, group: Group[T]) -> None:
        assert group.on_safe is not None
        try:
            group.on_safe()
        except Exception as bug:  # noqa: BLE001 - one producer's fault must not stop the others
            self._found(_bug(bug, "in a callback for safe records"))

    def _sync(self) -> None:
        try:
            self._writer.sync()
        except OSError as trouble:
            self._found(
                JournalError(
                    "JNL-SYNC",
                    f"the disk did not confirm a write: {trouble.strerror or trouble}; what it did not confirm is "
                    "written again to a new segment",
                    hint="check the disk: this is how failing disks begin",
                )
            )
            raise
        self._synced_at = time.monotonic()

    # Room

    def _bytes_on_disk(self) -> int:
        return sum(segment.size for segment in self._older) + self._writer.newest_bytes

    def _make_room(self, size: int) -> None:
        """Raises JournalError while a link keeps the oldest segment from going."""
        limit = self._options.max_bytes
        size += HEADER_BYTES  # it may begin a segment
        if limit is None or self._bytes_on_disk() + size <= limit:
            return
        board = self._board
        while self._bytes_on_disk() + size > limit:
            with board.lock:
                self._publish_segments()
                segments = board.segments
                if len(segments) < 2:
                    return  # the newest alone: it always has room for one write more
                verdict = give_up_oldest(board.places.values(), segments[1].first - 1)
                for place in verdict.changed:
                    board.changed(place)
                if verdict.blocked_by:
                    board.news.notify_all()  # links with something overdue
            for finding in verdict.findings:
                self._found(finding)
            if verdict.blocked_by:
                raise full(verdict.blocked_by, limit)
            if not self._delete(segments[:1]):
                raise cursors_unwritten(limit)

    def _delete(self, segments: Sequence[Segment]) -> bool:
        """False where they stay for now: a cursor on disk that points into a deleted segment would be taken for a loss."""
        if not self._cursors.write(sync=True):
            return False
        gone = {segment.path for segment in segments}
        self._older = [segment for segment in self._older if segment.path not in gone]
        with self._board.lock:
            self._publish_segments()
        for segment in segments:
            try:
                for cut in segment.path.parent.glob(f"{segment.path.name}*{CUT_SUFFIX}"):
                    self._disk.remove(cut)
                self._disk.remove(segment.path)
            except OSError as trouble:  # it will be deleted after the next start
                self._found(
                    JournalError(
                        "JNL-DELETE",
                        f"a segment that nobody needs any more cannot be deleted: {trouble.strerror or trouble}",
                        path=str(segment.path),
                        hint="see to the rights of the folder",
                    )
                )
        return True

    def _reclaim(self) -> bool:
        """Delete what every link has settled; True when something went."""
        self._retained_at = time.monotonic()
        with self._board.lock:
            self._publish_segments()
            going = deletable(self._board.segments, self._board.settled_by_all(), self._options, self._bytes_on_disk())
        return bool(going) and self._delete(going)

    # What else is due

    def _due_secs(self) -> float | None:
        """With the lock: how long until something must be looked after; None: nothing is."""
        due: list[float] = []
        now = time.monotonic()
        if self._board.settled_news:
            due.append(self._cursors.written_at + self._options.cursor_write_secs - now)
        if self._cursors.is_unsynced:
            due.append(self._cursors.synced_at + self._options.cursor_sync_secs - now)
        if self._writer.unsynced_bytes:
            due.append(self._synced_at + self._options.relaxed_sync_secs - now)
        if self._options.keep_secs and len(self._board.segments) > 1:
            due.append(self._retained_at + RETENTION_SECS - now)
        return min(due, default=None)

    def _look_after(self) -> bool:
        """Write cursors, sync, delete: what is due by now. True when a segment was deleted."""
        now = time.monotonic()
        reclaimed = False
        if self._board.settled_news and now >= self._cursors.written_at + self._options.cursor_write_secs:
            with self._board.lock:
                self._board.settled_news = False
                self._board.tail.trim(self._board.settled_by_all(), self._board.synced)
            self._cursors.write(sync=False)
            reclaimed = self._reclaim()
        if self._cursors.is_unsynced and now >= self._cursors.synced_at + self._options.cursor_sync_secs:
            self._cursors.write(sync=True)
            reclaimed = self._reclaim() or reclaimed  # what stayed because a cursor could not be written before
        if self._writer.unsynced_bytes and now >= self._synced_at + self._options.relaxed_sync_secs:
            self._sync_relaxed(now)
        if self._options.keep_secs and now >= self._retained_at + RETENTION_SECS:
            reclaimed = self._reclaim() or reclaimed
        return reclaimed

    def _sync_relaxed(self, now: float) -> None:
        self._synced_at = now  # also when it fails: not at once again
        try:
            self._sync()
        except OSError as trouble:
            self._note_held(_held(trouble))
            return
        with self._board.lock:
            self._publish_segments()
        if not self._committing:
            self._release()

    # Holding

    def _hold(self, trouble: OSError | JournalError) -> bool:
        """Wait for a better time; False when the journal is being closed instead."""
        self._note_held(trouble if isinstance(trouble, JournalError) else _held(trouble))
        deadline = time.monotonic() + self._pause_secs
        self._pause_secs = min(self._pause_secs * 2, self._options.hold_longest_secs)
        board = self._board
        with board.lock:
            settled = board.settled_by_all()
        while (left := deadline - time.monotonic()) > 0:
            with board.lock:
                if board.closing:
                    return False
                due = self._due_secs()
                board.work.wait(left if due is None else max(0.0, min(left, due)))
            reclaimed = self._look_after()
            with board.lock:
                moved = board.settled_by_all() != settled
            if reclaimed or moved:
                break  # there may be room now: worth a try
        return True

    def _note_held(self, reason: JournalError) -> None:
        with self._board.lock:
            before = self._board.held
            self._board.held = reason
        if self._held_since is None:
            self._held_since = time.monotonic()
        if before is None or str(before) != str(reason):
            self._observer.held(reason)

    def _release(self) -> None:
        if self._held_since is None:
            return
        held_secs = time.monotonic() - self._held_since
        self._held_since = None
        self._pause_secs = self._options.hold_first_secs
        with self._board.lock:
            self._board.held = None
            self._board.news.notify_all()  # for those who wait for room
        self._observer.released(held_secs)

    def _hold_for_good(self, bug: Exception) -> None:
        reason = _bug(bug, "in the writing thread")
        with self._board.lock:
            self._board.held = reason
            self._board.closing = True  # appends and reads are refused from here on
            self._board.news.notify_all()
        self._observer.held(reason)

    def _end(self) -> None:
        """Everything is written that can be."""
        try:
            self._sync()
        except OSError as trouble:
            self._note_held(_held(trouble))
        with self._board.lock:
            self._publish_segments()
        self._cursors.write(sync=True)
        self._cursors.close()


def _held(trouble: OSError) -> JournalError:
    return JournalError(
        "JNL-HELD",
        f"the journal cannot be written: {trouble.strerror or trouble}",
        path=str(trouble.filename or ""),
        hint="make room on the disk, or mend it: it goes on by itself",
    )


def _bug(bug: Exception, where: str) -> JournalError:
    return JournalError("JNL-BUG", f"unexpected {type(bug).__name__} {where}: {bug}", hint="please report this")
