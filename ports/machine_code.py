"""The largest stack depth, from the disassembly of a linked program, libraries included; no assumption about the compiler.
The stack use of a function is summed over all its instructions, so the result is never too small."""
import re

SYMBOL = re.compile(r"^([0-9a-f]+) <(.+)>:$")
LINE = re.compile(r"^\s*[0-9a-f]+:\t[0-9a-f ]+\t(\S+)\s*(.*)$")
FILLER = re.compile(r".*\t(nop|movs\tr0, r0)")
TARGET = re.compile(r"\b[0-9a-f]+ <([^>+]+)(\+0x[0-9a-f]+)?>")
CALLS = {"bl", "blx", "jal", "jalr"}
ENDS = {"b", "bx", "j", "ret", "jr", "udf", "unimp", "bkpt"}  # execution does not continue on the next line


def registers(text):
    """Number of registers in {r4, r5} or {d8-d9}, in words."""
    count = 0
    for part in re.search(r"{(.*)}", text).group(1).split(","):
        ends = [int(n) for n in re.findall(r"[ds](\d+)", part)] if part.strip()[0] in "ds" and part.strip() != "sl" and part.strip() != "sp" else []
        words = 2 if part.strip()[0] == "d" else 1
        count += words * (ends[1] - ends[0] + 1 if len(ends) == 2 else 1)
    return count


def taken(mnemonic, operands):
    """Bytes of stack allocated by an instruction: Arm (Thumb) and RISC-V."""
    if mnemonic in ("push", "vpush") or mnemonic in ("stmdb", "vstmdb") and operands.startswith("sp!"):
        return 4 * registers(operands)
    moved = re.match(r"sp, (?:sp, )?#(\d+)", operands) if mnemonic.startswith("sub") else None
    moved = moved or (re.match(r"sp,sp,-(\d+)", operands) if mnemonic in ("add", "addi") else None)
    moved = moved or re.search(r"\[sp, #-(\d+)\]!", operands)
    return int(moved.group(1)) if moved else 0


class MachineCode:
    """`indirect`: targets of calls through pointers, by the beginning of the caller's name."""

    def __init__(self, disassembly, indirect):
        self.address, self.frame, self.calls, self.jumps, self.indirect = {}, {}, {}, {}, indirect
        name, goes_on = None, False
        for line in disassembly.splitlines():
            symbol, code = SYMBOL.match(line), LINE.match(line)
            if symbol:
                if name and goes_on:
                    self.jumps[name].add(symbol.group(2))
                name = symbol.group(2)
                self.address[name] = int(symbol.group(1), 16)
                self.frame[name], self.calls[name], self.jumps[name] = 0, set(), set()
            elif code and not code.group(1).startswith(".") and not FILLER.match(code.group(0)):
                goes_on = self._read(name, code.group(1), code.group(2))

    def _read(self, name, mnemonic, operands):
        plain = mnemonic.split(".")[0]
        self.frame[name] += taken(plain, operands)
        target = TARGET.search(operands)
        if plain in CALLS:
            self.calls[name].add(target.group(1) if target else None)
        elif target and target.group(1) != name and re.match(r"(b|j|cb)", plain):
            self.jumps[name].add(target.group(1))
        return not (plain in ENDS or "pc}" in operands or operands.startswith("pc"))

    def _called(self, name):
        called = self.calls[name] - {None}
        if None in self.calls[name]:
            matches = [callees for caller, callees in self.indirect.items() if name.startswith(caller)]
            if not matches:
                raise SystemExit(f"ports: {name} calls through a pointer, and nothing says whom")
            called = called.union(*matches)
        return called

    def symbol(self, name):
        """The linker's name of a function: its own, or with the macros that headers make part of it, as in rfi_learn_01010."""
        found = [name] if name in self.address else [symbol for symbol in self.address if symbol.startswith(name + "_")]
        if len(found) != 1:
            raise SystemExit(f"ports: {name} is the name of {' and '.join(sorted(found)) or 'no function'}")
        return found[0]

    def depth(self, name, never, path=()):
        """The most bytes of stack used by `name` and everything it calls. Functions whose names begin with one of `never`
        are taken as not called."""
        if name.startswith(tuple(never)):
            return 0
        if name in path:
            raise SystemExit(f"ports: {name} calls itself: {' '.join(path)}")
        below = max((self.depth(f, never, path + (name,)) for f in self._called(name)), default=0)
        beside = max((self.depth(f, never, path + (name,)) for f in self.jumps[name] if f not in path), default=0)
        return self.frame[name] + max(below, beside)
