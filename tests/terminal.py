"""A command in a terminal, as a person sees it."""
import os, pty, signal, termios


def in_terminal(command, *, longest, typed=b""):
    """Output, as bytes, and exit code of a command in a terminal of 24 rows and 80 columns, where `typed` is typed at once."""
    pid, terminal = pty.fork()
    if pid == 0:
        try:
            termios.tcsetwinsize(1, (24, 80))
            os.execve(command[0], command, {**os.environ, "TERM": "xterm-256color"})
        finally:
            os._exit(99)
    signal.alarm(longest)  # ends this program if the command hangs
    os.write(terminal, typed)
    output = b""
    try:
        while part := os.read(terminal, 65536):
            output += part
    except OSError:  # Linux reports a closed terminal in this way
        pass
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    signal.alarm(0)
    os.close(terminal)
    return output, code
