"""An exported model that learns from the UART of an emulated board, and the cable to it."""

import contextlib
import json
import socket
import subprocess
import time
from pathlib import Path

import numpy as np
from on_link import NONCE, count_names

from edgesvm.link import FrameDecoder, SnapshotFetch, SnapshotGift, wire
from firmware_sim.harness.pump import Pump
from firmware_sim.line import FaultInjector, Line, TcpLink
from rig.boards import BOARDS, STRICT, sections, write

HERE = Path(__file__).parent
PATIENCE = 60.0  # seconds for what is done at once on a machine that has nothing else to do
STACK = 2048


class Cable(TcpLink):
    """A serial cable: who is unplugged hears nothing, and is not told. Keeps what went through."""

    def __init__(self):
        self._plugged = True
        super().__init__()
        self.to_board, self.from_board = bytearray(), bytearray()

    @property
    def connected(self):
        return self._plugged and super().connected

    def send(self, data):
        n = super().send(data)
        self.to_board += bytes(data[:n])
        return n

    def receive(self):
        data = super().receive()
        self.from_board += data
        return data if self._plugged else b""

    def plug(self):
        super().plug()
        self._plugged = True

    def unplug(self):
        self._plugged = False

    def close(self):
        super().unplug()


class Uart:
    """The board, switched on; to be closed."""

    def __init__(self, learner, folder):
        board = BOARDS["M3"]
        self.folder, self.nbytes = folder, learner.nbytes
        write(learner, folder)
        self.program = folder / "linked.elf"
        compiler = [*board.compiler.split(), "-Os", f"-I{folder}", f"-I{board.include}"]
        objects = []
        for source in [*folder.glob("*.c"), *(folder / "edgesvm").glob("*.c"), HERE / "linked.c"]:
            objects.append(folder / f"{source.stem}.o")
            rules = STRICT if source.parent != HERE else ["-std=gnu99", "-w"]
            subprocess.run(
                [*compiler, *rules, f"-DLINK_BOOT_ID={NONCE}", "-c", source, "-o", objects[-1]],
                check=True,
            )
        link = ["-nostartfiles", "-Wl,--gc-sections", f"-Wl,--defsym=__ram={board.ram}"]
        link += [f"-Wl,--defsym=__stack={STACK}", f"-T{board.include / board.script}"]
        subprocess.run([*compiler, *link, *objects, "-o", self.program, "-lm"], check=True)
        listed = subprocess.run(
            ["arm-none-eabi-nm", "-S", self.program], check=True, capture_output=True, text=True
        ).stdout
        fields = [line.split() for line in listed.splitlines()]
        self._symbols = {f[3]: (int(f[0], 16), int(f[1], 16)) for f in fields if len(f) == 4}
        self._names = count_names((folder / "edgesvm/link.h").read_text())
        self.code = sum(
            n
            for name in ("link.o", "mod_link.o")
            for section, n in sections(board, folder / name).items()
            if section.startswith((".text", ".rodata"))
        )
        self.ram = self._symbols["line"][1]
        self.cable = Cable()
        host, port = self.cable.url.removeprefix("socket://").split(":")
        self._monitor = socket.create_server(("127.0.0.1", 0))
        self._monitor.settimeout(PATIENCE)
        command = [
            *board.emulator.split(),
            *("-kernel", self.program, "-display", "none", "-monitor", "none"),
            *("-chardev", f"socket,id=line,host={host},port={port},nodelay=on"),
            *("-serial", "chardev:line", "-d", "guest_errors,unimp", "-D", "guest.log"),
            *("-qmp", f"tcp:127.0.0.1:{self._monitor.getsockname()[1]}"),
        ]
        self._qemu = subprocess.Popen(command, cwd=folder)
        self._asked, _ = self._monitor.accept()
        self._asked.settimeout(PATIENCE)
        self._qmp = self._asked.makefile("rwb")
        self._qmp.readline()
        self._ask("qmp_capabilities")
        self._wait_until_up()

    def _wait_until_up(self):
        """Until its link has begun: a byte that comes earlier is lost when it sets up its UART."""
        until = time.monotonic() + PATIENCE
        while not any(self.memory("line")):
            assert time.monotonic() < until
            time.sleep(0.01)

    def close(self):
        """Switch it off; its guest errors."""
        self._qemu.kill()
        self._qemu.wait()
        with contextlib.suppress(BrokenPipeError, ConnectionError):
            self._qmp.close()
        for end in (self._asked, self._monitor, self.cable):
            end.close()
        log = self.folder / "guest.log"
        return log.read_text() if log.exists() else ""

    def _ask(self, what, **arguments):
        self._qmp.write(json.dumps({"execute": what, "arguments": arguments}).encode() + b"\n")
        self._qmp.flush()
        while "return" not in (answer := json.loads(self._qmp.readline())):
            assert "error" not in answer, answer

    def memory(self, name, n=None):
        """Bytes of one of its variables."""
        begin, size = self._symbols[name]
        file = self.folder / "memory.bin"
        self._ask("pmemsave", val=begin, size=n or size, filename=str(file))
        return file.read_bytes()

    @property
    def counts(self):
        raw = self.memory("line", 4 * len(self._names))
        return dict(zip(self._names, np.frombuffer(raw, "<u4").tolist(), strict=True))

    @property
    def arena(self):
        return self.memory("model", self.nbytes)

    def stream(self, node, rates=None, seed=0):
        """Let a node send all its samples; the faults on the way."""
        faults = FaultInjector(rates or {}, seed=seed)
        pump = Pump(node, Line(self.cable, faults=faults))
        until = time.monotonic() + 10 * PATIENCE
        pump.run(lambda now: pump.done or now > until)
        assert pump.done
        self.settle()
        return faults

    def settle(self):
        """Wait until it has handled all that was sent, as long as it gets on."""
        handled, until = -1, 0.0
        while (n := self.counts["bytes_in"]) != len(self.cable.to_board):
            if n > handled:
                handled, until = n, time.monotonic() + PATIENCE
            assert time.monotonic() < until, (self.counts, len(self.cable.to_board))
            self.cable.receive()
            time.sleep(0.02)

    def frames(self, kind, body, answer):
        """Send a frame until it is answered; the answers' bodies."""
        decoder, found = FrameDecoder(wire.MAX_RAW), []
        decoder.resync()
        self.cable.receive()
        until, again, quiet_since = time.monotonic() + PATIENCE, 0.0, 0.0
        while not found or time.monotonic() - quiet_since < 0.3:
            assert time.monotonic() < until
            if not found and time.monotonic() > again:
                again = time.monotonic() + 2.0
                data = b"\0" + wire.encode_frame(kind, body)
                while data and time.monotonic() < until:
                    data = data[self.cable.send(data) :]
            self.cable.wait(0.02)
            bodies = [f.body for f in decoder.feed(self.cable.receive()) if f.kind == answer]
            if bodies:
                quiet_since = time.monotonic()
            found += bodies
        return found

    def fetch(self, lose=()):
        """Its snapshot; pages of these indices get lost on the way, once."""
        fetch, n, whole = SnapshotFetch(), 0, None
        while whole is None:
            for body in self.frames(wire.SNAPSHOT_ASK, fetch.ask(), wire.SNAPSHOT_PAGE):
                if n not in lose:
                    whole = fetch.take(wire.SnapshotPage.unpack(body)) or whole
                n += 1
        return whole

    def give(self, snapshot, request):
        """Hand it a snapshot; what it says of it."""
        gift = SnapshotGift(snapshot, request)
        while gift.outcome is None:
            for body in self.frames(wire.SNAPSHOT_PAGE, gift.page(), wire.SNAPSHOT_STATUS):
                gift.take(wire.SnapshotStatus.unpack(body))
        return gift.outcome
