"""The command line: one small file per verb, loaded when the verb is used.

This is the one place that turns errors into exit codes: 0 done, 1 a difference that the caller
asked to be told of, 2 trouble, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

from hloscope import __version__
from hloscope.errors import HloscopeError

# verb -> one line of help; the verb's file, hloscope/cli/VERB.py (`_` for `-`), holds `command`
VERBS = {
    "diff": "Compare two programs, captures or HLO files.",
    "capture": "Compile a program for a target and keep everything in one file.",
    "show": "Summarise a capture, HLO file, XLA dump or XProf profile.",
    "fingerprint": "Print the hash of a module with all noise removed.",
    "memory": "Account for every byte at peak, of one side or between two.",
    "cost": "Account for FLOPs, bytes moved and estimated time.",
    "comms": "Account for every collective and every byte sent.",
    "gate": "Judge programs against their baselines; the cause in the first line.",
    "sweep": "Capture and compare the product of programs, options, targets and more.",
    "noise": "Compile a program several times, and say what varies.",
    "export": "Write files for XProf, Model Explorer, Perfetto, Graphviz, XLA, or as tables.",
    "bisect-passes": "Find the compiler pass after which two programs part.",
    "prove": "Try suspected remedies on the candidate, and say what came back.",
    "analyzers": "List what can name a cause.",
    "explain": "Print what the code of a finding means.",
    "blame": "Split a delta into the code's part and the tools'.",
    "bisect": "Find the commit that made a program worse.",
    "parity": "Check that two programs compute the same from equal weights, on the CPU.",
    "targets": "List the targets that programs can be compiled for.",
    "programs": "List the reference programs.",
    "schema": "Print the JSON Schema of a verb's JSON.",
    "cache": "List or clear cached captures.",
}

TROUBLE = 2
INTERRUPTED = 130


class _Verbs(click.Group):
    """A group that imports a verb's file only when the verb is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        command = import_module(f"hloscope.cli.{cmd_name.replace('-', '_')}").command
        assert isinstance(command, click.Command)  # noqa: S101 - holds for every file of this folder
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            code = super().invoke(ctx)
            if sys.stdout is not None:  # closed from the start (`>&-`)
                sys.stdout.flush()
        except BrokenPipeError:
            # the reader of our output went away (`| head`): there is nobody left to tell. click
            # would end with 1, which says that something differs or regressed
            _write_no_more()
            sys.exit(TROUBLE)
        return code

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hloscope")
def cli() -> None:
    """Is this still the same XLA program, and if not, what does the difference cost?

    Each side of a comparison may be a capture file, HLO text or proto, a folder of XLA dumps,
    an XProf run, or a program such as gpt3-6b:nnx that is compiled on demand for a target
    that you need not own.
    """


def _write_no_more() -> None:
    """Leaves nothing for Python to write, and to fail with, when it ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> None:
    """Runs the command line; the console script's entry point."""
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(TROUBLE)
    except HloscopeError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(TROUBLE)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    except OSError as error:
        # what is read and written by name says so itself; this is a full disk under our output
        reason = (error.strerror or str(error)).lower()
        click.echo(f"error: {error.filename or 'standard output'}: {reason}", err=True)
        _write_no_more()
        sys.exit(TROUBLE)
    sys.exit(code if isinstance(code, int) else 0)
