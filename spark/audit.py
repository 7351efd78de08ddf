"""What became of every event that a link took: loss, duplicates, order, expiry, latency; over several gateways, and brokers.

Native Spark on the facts: sums, windows and joins on small columns. Every list of ids is cut after `LISTED`, and has its true count
beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from pyspark.sql import Window
from pyspark.sql import functions as sql

from mappings.captures.layout import ENDS, LEFT, UNCAPTURED
from mappings.captures.specification import Specification
from spark.facts import FINDING
from spark.job import HOUR_MICROS

LISTED: Final = 100
PERCENTILES: Final = (0.5, 0.9, 0.99)


class Hop(NamedTuple):
    """What one link sends, another takes."""

    sender: str  # gateway/link
    taker: str


def hops_of(specifications: Sequence[Specification], named: Sequence[tuple[str, str]] = ()) -> list[Hop]:
    """Those that were named, and those that are plain to see: one link sends to the address that another takes from, at different
    gateways, and in the form that the other reads."""
    found = [Hop(*pair) for pair in named]
    for sender in specifications:
        for taker in specifications:
            if (
                sender.gateway != taker.gateway
                and sender.sink.address
                and sender.sink.address == taker.source.address
                and sender.translation.sink_form == taker.translation.source_form
            ):
                found.append(Hop(f"{sender.gateway}/{sender.link}", f"{taker.gateway}/{taker.link}"))
    return list(dict.fromkeys(found))


def audit(
    facts: Any,
    hops: Sequence[Hop],
    exports: Mapping[str, Any],
    *,
    since: int | None = None,
    until: int | None = None,
    findings: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """`facts`: a DataFrame, of the events that are selected and of those around them. `exports`: by gateway/link, a DataFrame with
    the `event_id`s that a broker holds. `since`, `until`: the selection in time; without a beginning, numbers must begin with 1."""
    facts = facts.withColumn("where", sql.concat_ws("/", "gateway", "link"))
    damage = [
        {
            "code": row["error_code"],
            "path": row["event_id"],
            "message": row["finding"],
            "hint": "",
            "count": row["count"],
        }
        for row in facts.where(sql.col("status") == FINDING)
        .groupBy("error_code", "event_id", "finding")
        .count()
        .orderBy("event_id", "error_code")
        .collect()
    ]
    around = facts.where(sql.col("status") != FINDING)
    events = around.where("selected")
    single, single_around = (rows.where(sql.col("status") != UNCAPTURED) for rows in (events, around))
    links = _links(events)
    lost = _missing(around, since, until)
    repeated = _repeated(single)
    delivered = single.where("status = 'delivered'")
    if repeated["count"]:  # else a shuffle of everything for nothing
        delivered = delivered.dropDuplicates(["where", "run", "seq"])
    duplicates = _duplicates(delivered)
    order = _order(delivered)
    waiting = _waiting(single, single_around)
    payloads = _listed(
        single.where("finding is not null").select("where", "run", "seq", "event_id", "finding"),
        ("where", "run", "seq"),
    )
    between = [_hop(single, single_around, hop) for hop in hops]
    brokers = [_export(single, single_around, where, ids) for where, ids in sorted(exports.items())]
    uncaptured = sum(row["uncaptured"] for row in links)
    problems = {
        "missing": lost["count"],
        "uncaptured": uncaptured,
        "repeated_rows": repeated["count"],
        "duplicates": duplicates["count"],
        "order": order["count"],
        "damaged_payloads": payloads["count"],
        "lost_between_gateways": sum(hop["lost"]["count"] for hop in between),
        "missing_at_brokers": sum(one["missing"]["count"] for one in brokers),
        "findings": len(damage) + len(findings),
    }
    unproved = ("missing", "uncaptured", "lost_between_gateways", "missing_at_brokers", "findings")
    return {
        "job": "audit",
        "proved": not any(problems[name] for name in unproved),
        "clean": not any(problems.values()),
        "events": sum(row["taken"] for row in links),
        "problems": problems,
        "links": links,
        "missing": lost,
        "repeated_rows": repeated,
        "duplicates": duplicates,
        "order": order,
        "waiting": waiting,
        "damaged_payloads": payloads,
        "between_gateways": between,
        "at_brokers": brokers,
        "latency": _latency(single),
        "findings": [*findings, *damage],
    }


def _links(events: Any) -> list[dict[str, Any]]:
    """The accounts of each link, as the capture has them."""
    count = sql.coalesce(sql.col("seq_to") - sql.col("seq") + 1, sql.lit(1))
    statuses = (*ENDS, LEFT, UNCAPTURED)
    rows = (
        events.groupBy("gateway", "link")
        .agg(
            sql.sum(count).alias("taken"),
            *(sql.sum(sql.when(sql.col("status") == status, count).otherwise(0)).alias(status) for status in statuses),
            sql.sum(sql.col("redelivered").cast("long")).alias("redelivered"),
            sql.countDistinct("run").alias("runs"),
            sql.min("settled_at").alias("first_at"),
            sql.max("settled_at").alias("last_at"),
        )
        .orderBy("gateway", "link")
    )
    return [{**row.asDict(), "redelivered": row["redelivered"] or 0} for row in rows.collect()]


def _listed(frame: Any, order: Sequence[str]) -> dict[str, Any]:
    """How many, and the first of them."""
    count = frame.count()
    rows = frame.orderBy(*order).limit(LISTED).collect() if count else []
    return {"count": count, "listed": [row.asDict() for row in rows]}


def _missing(around: Any, since: int | None, until: int | None) -> dict[str, Any]:
    """Numbers of a run that no row has: each was taken by the link, and nothing is known of what became of it. It is of the
    selected time where the event behind was settled after its beginning, and the one before it before its end."""
    in_order = Window.partitionBy("where", "run").orderBy("seq", "seq_to")
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    first = sql.lit(0) if since is None else sql.col("seq") - 1
    in_time = sql.lit(True)
    if since is not None:
        in_time &= sql.col("settled_at") >= since
    if until is not None:
        in_time &= sql.coalesce(sql.lag("settled_at").over(in_order), sql.col("settled_at")) < until
    gaps = (
        around.withColumn("end", sql.coalesce("seq_to", "seq"))
        .withColumn("reached", sql.coalesce(sql.max("end").over(before), first))
        .withColumn("after_event", sql.lag("event_id").over(in_order))
        .withColumn("in_time", in_time)
        .where("in_time and seq > reached + 1")
        .select(
            "where",
            "run",
            (sql.col("reached") + 1).alias("first"),
            (sql.col("seq") - 1).alias("last"),
            "after_event",
            sql.col("event_id").alias("before_event"),
        )
    ).cache()
    try:
        found = _listed(gaps, ("where", "run", "first"))
        total = gaps.agg(sql.sum(sql.col("last") - sql.col("first") + 1)).first()[0]
        return {"count": int(total or 0), "listed": found["listed"]}
    finally:
        gaps.unpersist()


def _repeated(events: Any) -> dict[str, Any]:
    """One number, several rows: not the traffic, but the capture was copied or changed."""
    rows = events.groupBy("where", "run", "seq").agg(
        sql.count("*").alias("rows"), sql.min("event_id").alias("event_id")
    )
    return _listed(rows.where("rows > 1"), ("where", "run", "seq"))


def _duplicates(delivered: Any) -> dict[str, Any]:
    """Sent more than once by the same link. At least once is what a gateway promises; each has a row with `redelivered`, or a link
    that was interrupted."""
    ids = delivered.groupBy("where", "event_id").agg(
        sql.count("*").alias("times"), sql.max(sql.col("redelivered").cast("int")).alias("redelivered")
    )
    return _listed(ids.where("times > 1"), ("where", "event_id"))


def _order(delivered: Any) -> dict[str, Any]:
    """Delivered before an event of the same run that the link took earlier, and did not hold; or taken before one that came
    earlier."""
    before = Window.partitionBy("where", "run").orderBy("seq", "settled_at").rowsBetween(Window.unboundedPreceding, -1)
    late = (
        delivered.withColumn(
            "settled_before",
            sql.max(sql.when(~sql.coalesce("held", sql.lit(False)), sql.col("settled_at"))).over(before),
        )
        .withColumn("received_before", sql.max("received_at").over(before))
        .withColumn(
            "violation",
            sql.when(sql.col("settled_at") < sql.col("settled_before"), "delivered").when(
                sql.col("received_at") < sql.col("received_before"), "received"
            ),
        )
        .where("violation is not null")
        .select("where", "run", "seq", "event_id", "violation")
    )
    return _listed(late, ("where", "run", "seq"))


def _waiting(events: Any, around: Any) -> dict[str, Any]:
    """Given back to the source when a link ended, and not seen since: the source has them."""
    left = events.where(sql.col("status") == LEFT).select("where", "event_id", sql.col("settled_at").alias("left_at"))
    ended = around.where(sql.col("status").isin(*ENDS)).select("where", "event_id")
    return _listed(left.join(ended, ["where", "event_id"], "left_anti").distinct(), ("where", "event_id"))


def _hop(events: Any, around: Any, hop: Hop) -> dict[str, Any]:
    """Delivered by the one and never taken by the other. What was delivered after the last that the other took is on its way."""
    sent, ever_sent = (_delivered(rows, hop.sender) for rows in (events, around))
    taken, ever_taken = (rows.where(sql.col("where") == hop.taker) for rows in (events, around))
    last = ever_taken.agg(sql.max("received_at")).first()[0]
    unknown = sent.join(ever_taken.select("event_id").distinct(), "event_id", "left_anti")
    foreign = taken.join(ever_sent.select("event_id").distinct(), "event_id", "left_anti")
    on_the_way = sql.col("settled_at") > sql.lit(last if last is not None else -1)
    return {
        "from": hop.sender,
        "to": hop.taker,
        "sent": sent.select("event_id").distinct().count(),
        "taken": taken.select("event_id").distinct().count(),
        "lost": _listed(unknown.where(~on_the_way).select("event_id", "settled_at"), ("settled_at", "event_id")),
        "on_the_way": unknown.where(on_the_way).count(),
        "from_elsewhere": foreign.select("event_id").distinct().count(),
    }


def _delivered(events: Any, where: str) -> Any:
    return events.where((sql.col("where") == where) & (sql.col("status") == "delivered"))


def _export(events: Any, around: Any, where: str, held: Any) -> dict[str, Any]:
    """What a broker holds against what was delivered to it."""
    sent, ever_sent = (_delivered(rows, where).select("event_id").distinct() for rows in (events, around))
    times = held.groupBy("event_id").agg(sql.count("*").alias("times"))
    return {
        "link": where,
        "delivered": sent.count(),
        "held": held.count(),
        "missing": _listed(sent.join(times, "event_id", "left_anti"), ("event_id",)),
        "unknown": _listed(times.join(ever_sent, "event_id", "left_anti"), ("event_id",)),
        "more_than_once": _listed(times.where("times > 1"), ("event_id",)),
    }


def _latency(events: Any) -> list[dict[str, Any]]:
    """From the source to the confirmation of the far side, in microseconds; by link and hour, with what came in that hour."""
    hour = (sql.floor(sql.col("settled_at") / HOUR_MICROS) * HOUR_MICROS).alias("hour")
    latency = sql.when(sql.col("status") == "delivered", sql.col("settled_at") - sql.col("received_at"))
    percentiles = sql.percentile_approx(latency, list(PERCENTILES), 1000)
    rows = (
        events.where(sql.col("status").isin(*ENDS))
        .groupBy("where", hour)
        .agg(
            sql.count("*").alias("events"),
            sql.sum((sql.col("status") == "delivered").cast("long")).alias("delivered"),
            sql.sum((sql.col("status") == "expired").cast("long")).alias("expired"),
            percentiles.alias("percentiles"),
            sql.max(latency).alias("longest"),
        )
        .orderBy("where", "hour")
    )
    return [
        {
            "link": row["where"],
            "hour": row["hour"],
            "events": row["events"],
            "delivered": row["delivered"],
            "expired": row["expired"],
            **dict(zip(("p50", "p90", "p99"), row["percentiles"] or (None, None, None), strict=True)),
            "longest": row["longest"],
        }
        for row in rows.collect()
    ]
