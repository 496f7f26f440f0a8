"""The command line in this process."""

import json

from typer.testing import CliRunner

from linkwork.cli import app


def call(*arguments):
    """What a command did: its output, its exit code, its exception."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def document(*arguments):
    """What a command says with --json, which must end well."""
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)
