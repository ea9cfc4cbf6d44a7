"""The options of every command as Markdown, from the fields that declare them."""

from importlib import import_module

from edgesvm.cli import GROUPS
from edgesvm.cli.options import described, option_name, options_of


def reference() -> str:
    lines = []
    for title, commands in GROUPS.items():
        lines += [f"## {title}", ""]
        for name, command in commands.items():
            module = import_module(f"edgesvm.cli.{command.module}")
            lines += [f"### {name}", "", "```text", module.HELP.rstrip(), "```", ""]
            lines += [*table(module.Settings), ""]
    return "\n".join(lines)


def table(settings: type) -> list[str]:
    """A row for each option, with a row of its own for the title of a group."""
    rows, last = ["| option | |", "|---|---|"], ""
    for title, of, found in options_of(settings):
        if title != last:
            rows.append(f"| **{title}** | |")
            last = title
        unit = found.unit or " or ".join(found.choices)
        name = unit if found.is_argument else f"{option_name(of.name)} {unit}".strip()
        told = described(of, found).replace("|", "\\|").replace("<", "&lt;")
        rows.append(f"| `{name.replace('|', chr(92) + '|')}` | {told} |")
    return rows
