"""What a start imports, and the collector of garbage during it."""

from mutant import Area, mutants_of

AREA = Area(
    "start",
    ("tests/test_lazy.py",),
    (
        *mutants_of(
            "edgesvm_command.py",
            ("        gc.enable()\n", "", "garbage is never looked for"),
            (
                "        gc.disable()  # until `imported`\n",
                "",
                "the modules are looked through again and again",
            ),
        ),
        *mutants_of(
            "edgesvm/link/ports.py",
            (
                "from edgesvm.errors import LinkDown\n",
                "import serial\n\nfrom edgesvm.errors import LinkDown\n",
                "a socket imports pyserial",
            ),
        ),
    ),
)
