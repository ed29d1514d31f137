"""What must hold of the whole database, whoever wrote it: each index tells the rows that its table has."""


def tables(client):
    return [name for name, in client.query("SELECT relname FROM pg_class WHERE relkind = 'r' AND oid >= 16384 ORDER BY relname")]


def indexes(client, table):
    """Name, whether it is valid, its first column."""
    return client.query("SELECT c.relname, i.indisvalid, a.attname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
                        "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] "
                        f"WHERE i.indrelid = '{table}'::regclass ORDER BY c.relname")


def short_columns(client, table):
    """An index leads to rows, so what is long in them need not be told."""
    columns = client.query(f"SELECT attname, atttypid = 'text'::regtype FROM pg_attribute WHERE attrelid = '{table}'::regclass "
                           "AND attnum > 0 AND NOT attisdropped ORDER BY attnum")
    return ", ".join(f"substr({name}, 1, 20)" if text == "t" else name for name, text in columns)


def judge_indexes(client, violations):
    """How many were looked at."""
    looked_at = 0
    for table in tables(client):
        client.query("SET enable_seqscan = on; SET enable_indexscan = off")
        columns = short_columns(client, table)
        by_table = sorted(client.query(f"SELECT {columns} FROM {table}"), key=repr)
        for index, valid, column in indexes(client, table):
            violations.expect(valid == "t", f"index {index} of {table} is not valid")
            lowest = client.value(f"SELECT min({column}) FROM {table}")
            if lowest is None:
                lowest = "0"
            text = f"SELECT {columns} FROM {table} WHERE {column} >= '{lowest}'"
            client.query("SET enable_seqscan = off; SET enable_indexscan = on")
            if any(f"using {index} " in line for line, in client.query(f"EXPLAIN {text}")):
                looked_at += 1
                by_index = sorted(client.query(text), key=repr)
                if by_index != by_table:
                    violations.add(f"{table} has {len(by_table)} rows, by its index {index} {len(by_index)}: {difference(by_table, by_index)}")
            client.query("SET enable_seqscan = on; SET enable_indexscan = off")
    return looked_at


def difference(one, other):
    return f"only by the table {[row for row in one if row not in other][:5]}, only by the index {[row for row in other if row not in one][:5]}"
