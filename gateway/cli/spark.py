"""`isthmus spark validate|compare|audit|catalogue|replay CAPTURE…`: jobs on captured traffic.

This is the near side: it reads configurations, writes the job as data, and starts `python -m spark` (or spark-submit, for clusters
that need it) as a process. Nothing here imports Spark.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final
from zipfile import is_zipfile

import typer

from gateway.cli.exit_codes import ExitCode
from gateway.cli.spark_job import JobFile, Target, run_job
from gateway.cli.spark_times import micros
from mappings.captures.errors import CaptureError
from mappings.errors import IsthmusError

DEFAULT_MASTER: Final = "local[*]"

spark = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Jobs on captured traffic: prove a mapping, see what a change would do, audit, find out what flows, play it again.",
)

Captures = Annotated[list[str], typer.Argument(metavar="CAPTURE…", help="Folders of captures.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", help="Folder for the report, and all that the job writes.")]
Since = Annotated[str | None, typer.Option("--from", help="Settled at this time or later (ISO 8601, UTC).")]
Until = Annotated[str | None, typer.Option("--to", help="Settled before this time.")]
Links = Annotated[list[str] | None, typer.Option("--link", help="Only of this link; may be repeated.")]
Gateways = Annotated[list[str] | None, typer.Option("--gateway", help="Only of this gateway; may be repeated.")]
Types = Annotated[list[str] | None, typer.Option("--type", help="Only events of this type name; may be repeated.")]
Keys = Annotated[
    list[Path] | None, typer.Option("--key-file", help="A file with the key of an encrypted capture; may be repeated.")
]
Master = Annotated[
    str, typer.Option(help="local[N], spark://HOST:PORT, yarn, or k8s://https://HOST:PORT (these two by spark-submit).")
]
Conf = Annotated[list[str] | None, typer.Option("--conf", help="KEY=VALUE for Spark; may be repeated.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Write the job, print the command, and start nothing.")]
Samples = Annotated[int, typer.Option(min=0, help="Samples of each difference in the report.")]
Follow = Annotated[bool, typer.Option("--follow", help="Go on with what comes, with a checkpoint in --out.")]
Once = Annotated[bool, typer.Option("--once", help="With --follow: what is new since the last time, then end.")]
Environment = Annotated[
    str | None,
    typer.Option(help="yarn, spark://: an archive (venv-pack) with Python and its libraries, for executors."),
]
Image = Annotated[str | None, typer.Option(help="k8s: the image with Python, its libraries and this package.")]
DeployMode = Annotated[str, typer.Option(help="yarn, k8s: where the driver runs, client or cluster.")]


@dataclass
class _Common:
    """What every job has."""

    captures: list[str]
    out: Path
    master: str
    since: str | None = None
    until: str | None = None
    links: list[str] | None = None
    gateways: list[str] | None = None
    types: list[str] | None = None
    keys: list[Path] | None = None
    conf: list[str] | None = None
    samples: int = 5
    dry_run: bool = False
    environment: str | None = None
    image: str | None = None
    deploy_mode: str = "client"
    more: dict[str, Any] = field(default_factory=dict)

    def run(self, command: str) -> int:
        target = Target(self.master, self.deploy_mode, self.environment, self.image)
        conf = dict(_pair(one, "--conf") for one in self.conf or ())
        job = {
            "command": command,
            "captures": [_absolute(capture) for capture in self.captures],
            "out": str(self.out.absolute()),
            "selection": {
                "since": micros(self.since),
                "until": micros(self.until),
                "links": self.links or [],
                "gateways": self.gateways or [],
                "types": self.types or [],
                **self.more.pop("selection", {}),
            },
            "key_files": [str(path.absolute()) for path in self.keys or ()],
            "samples": self.samples,
            "master": None if target.by_submit else self.master,
            "conf": {} if target.by_submit else {**target.conf, **conf},
            **self.more,
        }
        return run_job(JobFile(self.out.absolute(), job), target, conf, dry_run=self.dry_run)


@spark.command()
def validate(
    captures: Captures,
    out: Out = Path("spark-validate"),
    since: Since = None,
    until: Until = None,
    link: Links = None,
    gateway: Gateways = None,
    type_: Types = None,
    key_file: Keys = None,
    samples: Samples = 5,
    follow: Follow = False,
    once: Once = False,
    master: Master = DEFAULT_MASTER,
    conf: Conf = None,
    environment: Environment = None,
    image: Image = None,
    deploy_mode: DeployMode = "client",
    dry_run: DryRun = False,
) -> None:
    """Translate captured events again with the mapping that was in force, and compare with what was sent. Exits with 1 where
    they do not agree."""
    common = _Common(captures, out, master, since, until, link, gateway, type_, key_file, conf, samples, dry_run,
                     environment, image, deploy_mode)  # fmt: skip
    common.more = {"follow": follow or once, "once": once}
    raise typer.Exit(common.run("validate"))


@spark.command()
def compare(
    old: Annotated[Path, typer.Argument(metavar="OLD.yaml", help="The configuration as it is.", show_default=False)],
    new: Annotated[Path, typer.Argument(metavar="NEW.yaml", help="As it would be.", show_default=False)],
    captures: Captures,
    out: Out = Path("spark-compare"),
    selectors: Annotated[
        Path | None,
        typer.Option(help="YAML: what consumers select, a list of {name, link, selector} or {name, link, etcl}."),
    ] = None,
    accept: Annotated[
        bool, typer.Option("--accept-compatible", help="Exit with 0 where consumers only see more than before.")
    ] = False,
    since: Since = None,
    until: Until = None,
    link: Links = None,
    gateway: Gateways = None,
    type_: Types = None,
    key_file: Keys = None,
    samples: Samples = 5,
    master: Master = DEFAULT_MASTER,
    conf: Conf = None,
    environment: Environment = None,
    image: Image = None,
    deploy_mode: DeployMode = "client",
    dry_run: DryRun = False,
) -> None:
    """Translate captured events with two configurations, and tell what would change for consumers. Exits with 1 where something
    does."""
    from gateway.cli.spark_inputs import consumers, specifications

    common = _Common(captures, out, master, since, until, link, gateway, type_, key_file, conf, samples, dry_run,
                     environment, image, deploy_mode)  # fmt: skip
    common.more = {
        "old": specifications(old),
        "new": specifications(new),
        "selectors": consumers(selectors) if selectors is not None else [],
        "accept_compatible": accept,
    }
    raise typer.Exit(common.run("compare"))


@spark.command()
def audit(
    captures: Captures,
    out: Out = Path("spark-audit"),
    hop: Annotated[
        list[str] | None,
        typer.Option(
            "--hop", help="GATEWAY/LINK=GATEWAY/LINK: what the first sends, the second takes; may be repeated."
        ),
    ] = None,
    export: Annotated[
        list[str] | None,
        typer.Option("--export", help="GATEWAY/LINK=FILE: the messages that its broker holds, as JSON Lines."),
    ] = None,
    since: Since = None,
    until: Until = None,
    link: Links = None,
    gateway: Gateways = None,
    type_: Types = None,
    key_file: Keys = None,
    follow: Follow = False,
    once: Once = False,
    master: Master = DEFAULT_MASTER,
    conf: Conf = None,
    environment: Environment = None,
    image: Image = None,
    deploy_mode: DeployMode = "client",
    dry_run: DryRun = False,
) -> None:
    """Loss, duplicates, order, expiry and latency, over all the captures that are named. Exits with 1 where something is found."""
    common = _Common(captures, out, master, since, until, link, gateway, type_, key_file, conf, 5, dry_run,
                     environment, image, deploy_mode)  # fmt: skip
    exports = [_pair(one, "--export") for one in export or ()]
    common.more = {
        "hops": [_pair(one, "--hop") for one in hop or ()],
        "exports": [(where, _absolute(path)) for where, path in exports],
        "follow": follow or once,
        "once": once,
    }
    raise typer.Exit(common.run("audit"))


@spark.command()
def catalogue(
    captures: Captures,
    out: Out = Path("spark-catalogue"),
    split: Annotated[
        str | None, typer.Option(help="Drift: what differs between before this time and after it.")
    ] = None,
    since: Since = None,
    until: Until = None,
    link: Links = None,
    gateway: Gateways = None,
    type_: Types = None,
    key_file: Keys = None,
    master: Master = DEFAULT_MASTER,
    conf: Conf = None,
    environment: Environment = None,
    image: Image = None,
    deploy_mode: DeployMode = "client",
    dry_run: DryRun = False,
) -> None:
    """What flows: event types, fields, IDL types, ranges, rates, drift. Proposes links and tests: OUT/proposals.yaml."""
    common = _Common(captures, out, master, since, until, link, gateway, type_, key_file, conf, 5, dry_run,
                     environment, image, deploy_mode)  # fmt: skip
    common.more = {"since_split": micros(split)}
    raise typer.Exit(common.run("catalogue"))


@spark.command()
def replay(
    captures: Captures,
    config: Annotated[Path, typer.Option(metavar="FILE", help="The gateway whose link plays.", show_default=False)],
    into: Annotated[str, typer.Option("--into", metavar="LINK", help="The link that plays.", show_default=False)],
    out: Out = Path("spark-replay"),
    rate: Annotated[float | None, typer.Option(min=0.001, help="Events a second.")] = None,
    factor: Annotated[
        float | None,
        typer.Option(min=0.001, help="The captured pace, so many times as fast: 1 as it was, 10 ten times."),
    ] = None,
    as_sent: Annotated[
        bool,
        typer.Option("--as-sent", help="What was sent, as it was; else the source's events, translated by the link."),
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the plan in --out, where it was left.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Also where the configuration is for production.")] = False,
    plan_only: Annotated[bool, typer.Option("--plan-only", help="Plan, and play nothing.")] = False,
    etcl: Annotated[str | None, typer.Option(help="Only events that this ETCL filter passes.")] = None,
    since: Since = None,
    until: Until = None,
    link: Links = None,
    gateway: Gateways = None,
    type_: Types = None,
    key_file: Keys = None,
    master: Master = DEFAULT_MASTER,
    conf: Conf = None,
    dry_run: DryRun = False,
) -> None:
    """Play captured traffic into a link: Spark selects and orders, the gateway's own link plays. At least once, with the ids that
    the events had; it can be interrupted and resumed."""
    from gateway.cli.spark_replay import Replay, has_plan

    if rate is not None and factor is not None:
        print("isthmus: --rate and --factor exclude each other", file=sys.stderr)
        raise typer.Exit(ExitCode.USAGE)
    playing = Replay(config, into, out, rate, factor, as_sent, resume, yes, tuple(key_file or ()))
    playing.check()
    if not resume:
        if not dry_run:
            playing.forget()
        common = _Common(captures, out, master, since, until, link, gateway, type_, key_file, conf, 5, dry_run)
        common.more = {"selection": {"etcl": etcl}}
        status = common.run("replay")
        if status == ExitCode.FAILED and has_plan(out):
            hint = "see report.json; --resume plays what is planned"
            print(f"isthmus: there is a plan, and not all of the capture could be read ({hint})", file=sys.stderr)
        if status != ExitCode.OK or dry_run or plan_only:
            raise typer.Exit(status)
    raise typer.Exit(playing.play())


@spark.command()
def archive(path: Annotated[Path, typer.Argument(help="The zip file to write.", show_default=False)]) -> None:
    """Write the archive that executors get: the packages of this installation that jobs need, for --py-files."""
    from gateway.cli.spark_job import write_archive

    if path.exists() and not is_zipfile(path):  # an argument too few, and a configuration would be gone
        hint = "name the zip file to write"
        raise IsthmusError("CLI-EXISTS", "this is there, and is no zip file", path=str(path), hint=hint)
    write_archive(path)
    print(f"wrote {path}")


def _pair(text: str, option: str) -> tuple[str, str]:
    left, equals, right = text.partition("=")
    if not equals or not left or not right:
        raise CaptureError("CAP-OPTION", f"{option} wants something=something, not {text!r}")
    return left, right


def _absolute(path: str) -> str:
    """Paths are the caller's; URIs stay as they are."""
    return path if "://" in path else str(Path(path).absolute())
