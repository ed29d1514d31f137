"""What the server that is tested lists: functions, operators and types; casts are PostgreSQL's between types that it has."""
import re

from values import SCALARS

# What depends on the moment, the session, the files or the objects of a server, or on how it stores values.
OUTSIDE = re.compile(r"^(pg_(?!lsn|size_pretty)|pgsilo|has_|current_|now$|statement_timestamp|transaction_timestamp|clock_|version|obj_desc|"
                     r"txid|inet_|set_config|format_type|to_reg|reg|get|nextval|query_|col_desc|shobj|row_security|"
                     r"random|setseed|timeofday|lo_|has|acl|makeacl|hash|convert_from|timezone$|enum_(in|out|recv|send))")
# A modifier as PostgreSQL keeps it, and bytes that are no text.
INTERNAL = {("interval", ("interval", "int4")), ("date_trunc", ("text", "timestamptz", "text")), ("bpchar", ("char",)), ("char", "bpchar")}
POLYMORPHIC = {"anyelement", "anyarray", "anynonarray", "anyenum", "anycompatible", "anycompatiblearray", "anycompatiblenonarray"}


class Catalog:
    def __init__(self, subject, reference):
        known = {name for (name,) in rows(subject, "select typname from pg_type where typtype in ('b', 'e')")}
        self.elements = [name for name in SCALARS if name in known]
        self.arrays = ["_" + name for name in self.elements if "_" + name in known]
        self.types = self.elements + self.arrays
        usable = set(self.types) | POLYMORPHIC | {"any"}
        names = dict(rows(subject, "select oid, typname from pg_type"))
        listed = rows(subject, "select p.proname, p.prorettype, p.proargtypes from pg_proc p where p.prokind = 'f' and not p.proretset "
                               "and p.provolatile in ('i', 's') and p.pronargs > 0 order by p.oid")
        self.functions = []
        for name, result, arguments in listed:
            types = [names.get(oid) for oid in arguments.split()]
            result = names.get(result)
            one_argument_age = name == "age" and len(types) == 1
            if not OUTSIDE.match(name) and not one_argument_age and (name, tuple(types)) not in INTERNAL and usable.issuperset(types + [result]):
                self.functions.append((name, types, result))
        self.operators = []
        for name, left, right, result in rows(subject, "select oprname, oprleft, oprright, oprresult from pg_operator order by oid"):
            types = [names.get(oid) for oid in (left, right) if oid != "0"]
            if usable.issuperset(types + [names.get(result)]):
                self.operators.append((name, types, names.get(result)))
        self.casts = [(source, target, context) for source, target, context in
                      rows(reference, "select s.typname, t.typname, castcontext from pg_cast join pg_type s on s.oid = castsource "
                                      "join pg_type t on t.oid = casttarget order by s.oid, t.oid")
                      if source in self.elements and target in self.elements and (source, target) not in INTERNAL
                      # Not all OIDs are of types that there are.
                      and (target != "regtype" or source in ("text", "varchar"))]


def rows(psql, query):
    (lines,) = psql.answers([query])
    return [line.split("|") if "pg_operator" not in query else split_operator(line) for line in lines if line]


def split_operator(line):
    name, *others = line.rsplit("|", 3)
    return [name, *others]
