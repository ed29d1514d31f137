"""A session over libpq, for what a benchmark does beside pgbench: one long statement, watched from outside."""
import ctypes
import ctypes.util

_libpq = ctypes.CDLL(ctypes.util.find_library("pq"))
for _name in ("PQconnectdb", "PQexec", "PQgetCancel"):
    getattr(_libpq, _name).restype = ctypes.c_void_p
for _name in ("PQerrorMessage", "PQgetvalue", "PQresultErrorField"):
    getattr(_libpq, _name).restype = ctypes.c_char_p
_SQLSTATE = ord("C")
_ERRORS = (5, 7)  # PGRES_BAD_RESPONSE, PGRES_FATAL_ERROR


class SqlError(Exception):
    def __init__(self, sqlstate, message):
        super().__init__(f"{sqlstate}: {message}")
        self.sqlstate = sqlstate


class Session:
    """One connection. cancel() may be called by another thread while execute() runs; nothing else may."""

    def __init__(self, server):
        options = f"host={server.sockets} port={server.port} user=postgres dbname=postgres"
        self.connection = ctypes.c_void_p(_libpq.PQconnectdb(options.encode()))
        if _libpq.PQstatus(self.connection) != 0:
            raise SqlError("08006", _libpq.PQerrorMessage(self.connection).decode())
        self.canceller = ctypes.c_void_p(_libpq.PQgetCancel(self.connection))

    def execute(self, text):
        """The first column of the first row, or None. Raises SqlError."""
        return next(iter(self.rows(text)), None)

    def rows(self, text):
        """The first column of each row. Raises SqlError."""
        result = ctypes.c_void_p(_libpq.PQexec(self.connection, text.encode()))
        try:
            if _libpq.PQresultStatus(result) in _ERRORS:
                state = _libpq.PQresultErrorField(result, _SQLSTATE) or b"08006"
                raise SqlError(state.decode(), _libpq.PQerrorMessage(self.connection).decode().strip())
            return [_libpq.PQgetvalue(result, row, 0).decode() for row in range(_libpq.PQntuples(result))]
        finally:
            _libpq.PQclear(result)

    def cancel(self):
        if not _libpq.PQcancel(self.canceller, ctypes.create_string_buffer(256), 256):
            raise SqlError("08006", "the cancel request did not get through")

    def close(self):
        _libpq.PQfreeCancel(self.canceller)
        _libpq.PQfinish(self.connection)
