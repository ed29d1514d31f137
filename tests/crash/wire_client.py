"""A client that speaks the wire protocol itself, so that a test sees every answer and every connection that ends without one."""
import contextlib
import socket
import struct


class ServerError(Exception):
    def __init__(self, fields):
        super().__init__(f"{fields.get('C')}: {fields.get('M')}")
        self.code, self.message, self.detail, self.severity = fields.get("C"), fields.get("M"), fields.get("D", ""), fields.get("V")


class Closed(Exception):
    """The connection ended, or nothing came in time, without a word."""


class WireClient:
    """Connected to a server's Unix socket; with `says_hello` a session, else a socket that has said nothing."""

    def __init__(self, directory, port, says_hello=True, patience=10):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(patience)
        self.socket.connect(f"{directory}/.s.PGSQL.{port}")
        if says_hello:
            try:
                body = struct.pack("!i", 196608) + b"user\0postgres\0database\0postgres\0\0"
                # A server that refuses may have said so, and closed, before it was asked.
                with contextlib.suppress(BrokenPipeError):
                    self.socket.sendall(struct.pack("!i", len(body) + 4) + body)
                self.answer()
            except BaseException:
                self.close()
                raise

    def close(self):
        self.socket.close()

    def receive(self, count):
        data = b""
        while len(data) < count:
            try:
                piece = self.socket.recv(count - len(data))
            except OSError as error:
                raise Closed(str(error)) from error
            if not piece:
                raise Closed("connection closed")
            data += piece
        return data

    def answer(self):
        """The rows up to ReadyForQuery. Raises the first error: a FATAL one at once."""
        rows, error = [], None
        while True:
            kind, length = struct.unpack("!ci", self.receive(5))
            body = self.receive(length - 4)
            if kind == b"E":
                fields = {part[:1].decode(): part[1:].decode() for part in body.split(b"\0") if part}
                error = error or ServerError(fields)
                if fields.get("V") in ("FATAL", "PANIC"):
                    raise error
            elif kind == b"D":
                rows.append(row(body))
            elif kind == b"Z":
                if error:
                    raise error
                return rows

    def ask(self, sql):
        text = sql.encode() + b"\0"
        try:
            self.socket.sendall(b"Q" + struct.pack("!i", len(text) + 4) + text)
        except OSError as error:
            raise Closed(str(error)) from error
        return self.answer()


def row(body):
    count, = struct.unpack_from("!h", body)
    values, at = [], 2
    for _ in range(count):
        length, = struct.unpack_from("!i", body, at)
        at += 4
        values.append(None if length < 0 else body[at:at + length].decode())
        at += max(length, 0)
    return values
