"""Values of each type, those at its bounds among them, as texts that the type reads."""

TEXTS = ["", "a", "A", "abc", "ABC", " a b ", "éß€", "😀x", "ÄÖü", "hello world", "a%b_c", "\\", "a\\b", "'", "\"q\"", "1", "-12.5", "0x1F", "true",
         "2024-02-29", "12:30:45", "1 day", "{1,2}", "{a,b}", "NULL", "\t", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "UTC", "year", "month", "YYYY-MM-DD HH24:MI:SS", "999.99", "FM0000", "utf8", "hex", "base64", "escape", "%s-%I-%L", "a,b,,c", "ab+", "(a)(b)", "g", "i",
         "dow", "epoch", "abcabcabc", "0", "Infinity", "nan", "xyz  ", "aBc dEf-gHi"]
INTEGERS = ["0", "1", "-1", "2", "3", "5", "7", "10", "12", "31", "32", "63", "64", "100", "-7", "1000", "-100", "255", "256", "4", "8", "16"]
NUMBERS = ["0", "1", "-1", "0.5", "-0.5", "1.5", "2.5", "-2.5", "0.1", "0.3333333333333333", "3.14159", "100", "12345.678", "-99.99", "1e10", "1e-10"]
FLOATS = NUMBERS + ["NaN", "Infinity", "-Infinity", "-0", "1e15", "1e16", "123456789012345680", "1e-5", "0.0001", "2147483647", "2147483648", "-2147483648",
                    "-2147483649", "32767.5", "32767.4", "9223372036854775807", "-9223372036854775808"]
DATES = ["2000-01-01", "1999-12-31", "2024-02-29", "1970-01-01", "2023-03-12", "2023-11-05", "1900-02-28", "0001-01-01", "0044-03-15 BC",
         "4713-11-24 BC", "5874897-12-31", "9999-12-31", "294276-12-31", "infinity", "-infinity", "2021-01-31", "2020-12-28", "1883-11-18", "1582-10-15"]
TIMES = ["00:00:00", "24:00:00", "12:00:00", "23:59:59.999999", "01:02:03.456789", "00:00:00.000001", "07:30:00", "18:45:10.5"]
TIMESTAMPS = ["2000-01-01 00:00:00", "1999-12-31 23:59:59.999999", "2024-02-29 12:34:56.789", "1970-01-01 00:00:00", "2023-03-12 02:30:00",
              "2023-11-05 01:30:00", "0001-01-01 00:00:00", "0044-03-15 10:00:00 BC", "4713-11-24 00:00:00 BC", "294276-12-31 23:59:59.999999", "infinity",
              "-infinity", "2038-01-19 03:14:08", "1900-01-01 00:00:00", "2021-01-31 00:00:00.000001", "2020-06-30 23:59:59.5"]
INTERVALS = ["0", "1 day", "-1 day", "1 month", "1 year 2 months", "-1 year 3 days", "1 mon -1 day 00:00:01", "01:02:03.456789", "-00:00:00.000001",
             "30 days", "24:00:00", "36:30:00", "1 year 1 mon 1 day 01:01:01.5", "178000000 years", "-178000000 years", "2147483647 days",
             "-2147483648 days", "2562047788:00:54.775807", "-2562047788:00:54.775807", "15 days 12:00:00", "6 months", "P1Y2M3DT4H5M6.7S", "1 week"]
BYTES = ["", "\\x00", "\\xff", "\\x616263", "\\x0001fe", "abc", "\\xdeadbeef", "\\xc3a9", "\\x5c78", "a\\000b"]

SCALARS = {
    "bool": ["true", "false", "true", "false", "t", "no", "1", "off"],
    "int2": INTEGERS + ["32767", "-32768", "32766", "-32767"],
    "int4": INTEGERS + ["2147483647", "-2147483648", "65536", "-2147483647", "32768", "46341"],
    "int8": INTEGERS + ["9223372036854775807", "-9223372036854775808", "2147483648", "-2147483649", "4294967296", "3037000500", "9007199254740993"],
    "float4": FLOATS + ["3.4028235e+38", "1.4e-45", "-3.4028235e+38", "1.1754944e-38", "16777217", "1e37"],
    "float8": FLOATS + ["1.7976931348623157e+308", "5e-324", "-1.7976931348623157e+308", "2.2250738585072014e-308", "1e300", "1e-300", "4.35", "0.285"],
    "numeric": NUMBERS + ["NaN", "Infinity", "-Infinity", "0.00", "1.000", "-0.000", "123456789012345678901234567890.123456789012345678901234567890", "1e100",
                          "1e-100", "-1e50", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "2147483647.5", "32767.5", "0.00000000000000000001",
                          "99999999999999999999.9999999999", "9999.5", "0.99999", "10000", "9999", "99999999", "0.0001", "0.00009999", "7", "13"],
    "text": TEXTS,
    "varchar": TEXTS,
    "bpchar": ["", "a", "a  ", "abc", " x ", "é ", "ABC   ", "\t", "10", "zz"],
    "name": ["", "a", "abc", "Abc", "é", "a" * 63, "a" * 70, "pg_class"],
    "char": ["", "a", "Z", "0", " ", "\\", "ab", "é", "\\200", "\\377"],
    "bytea": BYTES,
    "date": DATES,
    "time": TIMES,
    "timetz": [time + zone for time in TIMES for zone in ("+00", "-05", "+05:30", "+15:59", "-15:59:59")],
    "timestamp": TIMESTAMPS,
    "timestamptz": TIMESTAMPS + [stamp + "+00" for stamp in TIMESTAMPS if "BC" not in stamp and "inf" not in stamp],
    "interval": INTERVALS,
    "oid": ["0", "23", "25", "1", "4294967295", "2147483648", "1184"],
    "xid": ["0", "1", "3", "4294967295"],
    "cid": ["0", "1", "4294967295"],
    "tid": ["(0,0)", "(0,1)", "(4294967295,65535)", "(3,7)"],
    "pg_lsn": ["0/0", "0/1", "FFFFFFFF/FFFFFFFF", "16/B374D848", "1/0"],
    "regtype": ["int4", "text", "-", "timestamptz", "_int4", "numeric"],
    "int2vector": ["", "1", "1 2 3", "-32768 32767"],
    "oidvector": ["", "1", "23 25", "4294967295"],
    "mood": ["sad", "ok", "happy"],
}

# What few characters or rounds say as well as many, which would take long: arguments by name and position.
MODEST = {("repeat", 1), ("lpad", 1), ("rpad", 1), ("factorial", 0), ("array_fill", 1), ("interval", 1), ("bpchar", 1)}
MODEST_VALUES = ["0", "1", "2", "3", "5", "10", "-1", "17"]


def array_text(values):
    return "{" + ",".join("NULL" if value is None else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values) + "}"


def random_array(random, element):
    values = SCALARS[element]
    shape = random.randint(0, 19)
    def some(count):
        return [None if random.random() < 0.1 else random.choice(values) for _ in range(count)]
    if shape < 2:
        return "{}"
    if shape < 15:
        return array_text(some(random.choice([1, 2, 2, 3, 3, 4, 6])))
    if shape < 17:
        width = random.randint(1, 3)
        return "{" + ",".join(array_text(some(width)) for _ in range(random.randint(1, 3))) + "}"
    if shape < 19:
        lower = random.choice([-1, 0, 2, 5])
        count = random.randint(1, 3)
        return f"[{lower}:{lower + count - 1}]=" + array_text(some(count))
    return "[0:1][2:3]={" + array_text(some(2)) + "," + array_text(some(2)) + "}"


def random_text(random, type_name):
    if type_name.startswith("_"):
        return random_array(random, type_name[1:])
    return random.choice(SCALARS[type_name])
