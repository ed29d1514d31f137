"""A client of the wire protocol that knows of each statement whether the server has answered it: by the simple and by the extended
protocol, values as text. One connection is for one thread at a time.
"""
import socket
import struct


class SqlError(Exception):
    """The server has refused the statement: nothing of it will be found."""

    def __init__(self, fields):
        super().__init__(f"{fields.get('C')}: {fields.get('M')}")
        self.code = fields.get("C", "")


class Lost(Exception):
    """The connection has ended: what became of the last statement is not known."""


# The server goes, or ends the session: classes of errors behind which the connection ends.
ENDINGS = ("57P01", "57P02", "57P03", "57P05", "08006", "08P01")


class Client:
    def __init__(self, directory, port, timeout=30.0, settings=None):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.stream = None
        self.in_transaction = False
        words = {"user": "postgres", "database": "postgres"}
        if settings:
            words["options"] = " ".join(f"-c {name}={value}" for name, value in settings.items())
        try:
            self.socket.connect(f"{directory}/.s.PGSQL.{port}")
            body = b"".join(f"{name}\0{value}\0".encode() for name, value in words.items()) + b"\0"
            self.stream = self.socket.makefile("rb", buffering=1 << 16)
            self.socket.sendall(struct.pack("!II", len(body) + 8, 196608) + body)
            self._answer()
        except OSError as error:
            self.close()
            raise Lost(str(error)) from error
        except (SqlError, Lost):
            self.close()
            raise

    def close(self):
        if self.stream:
            self.stream.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def query(self, text):
        """The rows of the last statement that has any, as tuples of str or None."""
        return self._run(self._message(b"Q", text.encode() + b"\0"))

    def execute(self, text, *values):
        """One statement with parameters $1, ... by the extended protocol."""
        given = b"".join(struct.pack("!i", -1) if value is None else struct.pack("!i", len(str(value).encode())) + str(value).encode()
                         for value in values)
        bind = b"\0\0" + struct.pack("!HH", 0, len(values)) + given + struct.pack("!H", 0)
        return self._run(self._message(b"P", b"\0" + text.encode() + b"\0" + struct.pack("!H", 0)) + self._message(b"B", bind)
                         + self._message(b"E", b"\0" + struct.pack("!I", 0)) + self._message(b"S", b""))

    def copy_in(self, text, lines):
        """COPY ... FROM STDIN of lines that end in newlines."""
        data = "".join(lines).encode()
        return self._run(self._message(b"Q", text.encode() + b"\0"), copied=self._message(b"d", data) + self._message(b"c", b""))

    def value(self, text):
        return self.query(text)[0][0]

    @staticmethod
    def _message(kind, body):
        return kind + struct.pack("!I", len(body) + 4) + body

    def _run(self, bytes_, copied=None):
        try:
            self.socket.sendall(bytes_)
            return self._answer(copied)
        except OSError as error:
            raise Lost(str(error)) from error

    def _exactly(self, count):
        bytes_ = self.stream.read(count)
        if len(bytes_) < count:
            raise Lost("the server has closed the connection")
        return bytes_

    def _answer(self, copied=None):
        """Reads until the server is ready again."""
        rows, error = [], None
        while True:
            head = self._exactly(5)
            body = self._exactly(struct.unpack("!I", head[1:])[0] - 4)
            kind = head[:1]
            if kind == b"T":
                rows = []
            elif kind == b"D":
                rows.append(row_of(body))
            elif kind == b"E":
                error = fields_of(body)
                if error.get("C") in ENDINGS or error.get("S") == "FATAL":
                    raise Lost(f"{error.get('C')}: {error.get('M')}")
            elif kind == b"G":
                self.socket.sendall(copied)
            elif kind == b"Z":
                self.in_transaction = body != b"I"
                if error:
                    raise SqlError(error)
                return rows


def fields_of(body):
    return {part[:1].decode(): part[1:].decode() for part in body.split(b"\0") if part}


def row_of(body):
    values, at = [], 2
    for _ in range(struct.unpack("!H", body[:2])[0]):
        length = struct.unpack_from("!i", body, at)[0]
        at += 4
        if length < 0:
            values.append(None)
        else:
            values.append(body[at:at + length].decode())
            at += length
    return tuple(values)
