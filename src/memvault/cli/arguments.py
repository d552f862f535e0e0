"""Options that may stand anywhere on the command line."""

from __future__ import annotations

from dataclasses import dataclass, field

_VALUED = ("--vault", "--config")


@dataclass(slots=True)
class GlobalOptions:
    """``rest`` is what remains: the command and its own arguments."""

    vault: str | None = None
    config: str | None = None
    debug: bool = False
    rest: list[str] = field(default_factory=list)


def take_global_options(arguments: list[str]) -> GlobalOptions:
    """Pick ``--vault``, ``--config`` and ``--debug`` out, wherever before ``--`` they stand.

    An option without its value stays where it is, for the command line to complain of.
    """
    options = GlobalOptions()
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        name, equals, value = argument.partition("=")
        if argument == "--":
            options.rest += [argument, *waiting]
            break
        if argument == "--debug":
            options.debug = True
        elif name in _VALUED and (equals or waiting):
            setattr(options, name[2:], value if equals else waiting.pop(0))
        else:
            options.rest.append(argument)
    return options
