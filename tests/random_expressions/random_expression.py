"""Random scalar expressions, mostly well typed, over the columns of a table: all from one seed and a catalog."""
import random
import re

import special_forms
from catalog import POLYMORPHIC
from values import MODEST, MODEST_VALUES, SCALARS, random_text

QUOTED = {"char", "bit", "time", "timestamp", "interval", "overlay", "position", "substring", "trim", "like", "notlike", "overlaps", "timezone", "extract", "numeric",
          "varchar", "float4", "float8", "int2", "int4", "int8", "bool", "normalize", "is_normalized"}
ROWS = 40
# Types whose names in SQL are other words.
SPELLED = {"char": '"char"', "name": "name"}


def spelled(type_name):
    if type_name.startswith("_"):
        return spelled(type_name[1:]) + "[]"
    return SPELLED.get(type_name, type_name)


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class Expression:
    """A piece of text with expressions in it. `shape`: what it is made by, whatever types that stands for."""

    def __init__(self, type_name, pieces, shape="a value"):
        self.type = type_name
        self.pieces = pieces
        self.shape = shape

    def text(self):
        return "".join(piece if isinstance(piece, str) else piece.text() for piece in self.pieces)

    def children(self):
        return [piece for piece in self.pieces if not isinstance(piece, str)]

    def parts(self):
        """Itself and all below, the smallest first."""
        found = [part for child in self.children() for part in child.parts()] + [self]
        return sorted(found, key=lambda part: len(part.text()))

    def with_child(self, position, child):
        return Expression(self.type, [child if index == position else piece for index, piece in enumerate(self.pieces)], self.shape)


class RandomExpressions:
    def __init__(self, seed, catalog):
        self.random = random.Random(seed)
        self.catalog = catalog
        self.column_share = 0.5
        self.is_other_type = False
        self.implicit = {}
        for source, target, context in catalog.casts:
            if context == "i":
                self.implicit.setdefault(target, []).append(source)
        self.producers = {}
        for name, types, result in catalog.functions:
            pieces = [(f'"{name}"' if name in QUOTED else name) + "("]
            for index, type_name in enumerate(types):
                modest = (name, index) in MODEST
                pieces += [", "] * (index > 0) + [("modest" if modest else "argument", type_name)]
            self.add("function", result, pieces + [")"])
        for name, types, result in catalog.operators:
            operands = [("argument", type_name) for type_name in types]
            pieces = ["(" + name + " ", operands[0], ")"] if len(types) == 1 else ["(", operands[0], f" {name} ", operands[1], ")"]
            self.add("operator", result, pieces)
        for source, target, _ in catalog.casts:
            self.add("cast", target, ["(", ("exact", source), ")::" + spelled(target)])
        self.add_special_forms()
        self.all = [(result, pieces) for result, kinds in self.producers.items() for kind, made in kinds.items() for pieces in made]

    def add(self, kind, result, pieces, shape=None):
        shape = shape or "".join(piece if isinstance(piece, str) else f"<{piece[1]}>" for piece in pieces)
        names = {piece[1] for piece in pieces if not isinstance(piece, str)} | {result}
        if names & POLYMORPHIC:
            for element in self.catalog.elements:
                self.add_bound(kind, result, pieces, element, shape)
            return
        self.producers.setdefault(result, {}).setdefault(kind, []).append((shape, pieces))

    def add_bound(self, kind, result, pieces, element, shape):
        names = {piece[1] for piece in pieces if not isinstance(piece, str)} | {result}
        array = "_" + element
        if names & {"anyarray", "anycompatiblearray"} and array not in self.catalog.arrays or "anyenum" in names and element != "mood":
            return
        def bound(name):
            return name if name not in POLYMORPHIC else array if name.endswith("array") and "non" not in name else element
        self.add(kind, bound(result), [piece if isinstance(piece, str) else (piece[0], bound(piece[1])) for piece in pieces], shape)

    def add_special_forms(self):
        forms = [("bool", form, form) for form in special_forms.BOOLEAN] + [(result, form, form) for result, form in special_forms.OTHERS]
        for element in self.catalog.elements:
            if "_" + element in self.catalog.arrays:
                forms += [("bool", self.for_type(form, element), form) for form in special_forms.BOOLEAN_OF_ANY]
                forms += [(element, self.for_type(form, element), form) for form in special_forms.SAME]
                forms += [("_" + element, self.for_type(form, element), form) for form in special_forms.ARRAYS]
        for result, text, form in forms:
            pieces = [piece if index % 2 == 0 else ("word" if piece in special_forms.WORDS else "argument", piece)
                      for index, piece in enumerate(re.split(r"\{(\w+)\}", text))]
            self.add("form", result, [piece for piece in pieces if piece != ""], form)

    @staticmethod
    def for_type(form, element):
        return form.replace("{T}", "{" + element + "}").replace("{A}", "{_" + element + "}").replace("{t}", spelled(element))

    def one(self, choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def table(self):
        yield "create type mood as enum ('sad', 'ok', 'happy')"
        yield "create table t (id int4 primary key, " + ", ".join(f"c_{name} {spelled(name)}" for name in self.catalog.types) + ")"
        for row in range(ROWS):
            values = [self.value(name) for name in self.catalog.types]
            yield f"insert into t values ({row}, {', '.join(values)})"

    def value(self, type_name):
        if self.chance(0.06):
            return f"null::{spelled(type_name)}"
        text = random_text(self.random, type_name)
        return f"{quoted(text)}::{spelled(type_name)}"

    def literal(self, type_name):
        text = random_text(self.random, type_name)
        if type_name in ("int4", "int8", "numeric") and text.lstrip("-").replace(".", "").isdigit() and self.chance(0.6):
            return text if not text.startswith("-") else f"({text})"
        if type_name == "bool" and text in ("true", "false"):
            return text
        if not self.is_other_type and (type_name == "text" and self.chance(0.3) or self.chance(0.04)):
            return quoted(text)
        if self.chance(0.02):
            return "null"
        if not type_name.startswith("_") and type_name not in SPELLED and self.chance(0.2):
            return f"{type_name} {quoted(text)}"
        return self.value(type_name)

    def leaf(self, type_name):
        column = self.chance(self.column_share)
        return Expression(type_name, [f"c_{type_name}" if column else self.literal(type_name)])

    def settings(self):
        yield "set timezone = " + self.one(["'UTC'", "'America/New_York'", "'Asia/Kolkata'", "'Europe/Berlin'", "'Australia/Lord_Howe'"])
        yield "set datestyle = " + self.one(["'ISO, MDY'", "'ISO, DMY'", "'SQL, MDY'", "'SQL, DMY'", "'Postgres, MDY'", "'German, DMY'"])
        yield "set intervalstyle = " + self.one(["postgres", "postgres", "postgres_verbose", "sql_standard", "iso_8601"])
        yield "set bytea_output = " + self.one(["hex", "escape"])
        yield "set extra_float_digits = " + self.one(["1", "1", "0", "-3"])

    def expression(self):
        """Of any type: half of them by a producer, so that each is met, half by a type."""
        self.column_share = self.one([0, 0.5, 0.9, 1])
        depth = self.one([1, 1, 2, 2, 3, 4])
        if self.chance(0.5):
            return self.build(*self.one(self.all), depth)
        if self.chance(0.5):
            return self.build(*self.one([(result, self.one(made)) for result, kinds in self.producers.items()
                                         for kind, made in kinds.items() if kind != "operator" or self.chance(0.5)]), depth)
        return self.of_type(self.one(self.catalog.types), depth)

    def of_type(self, type_name, depth):
        kinds = self.producers.get(type_name)
        if depth <= 0 or kinds is None or self.chance(0.25):
            return self.leaf(type_name)
        return self.build(type_name, self.one(kinds[self.one(sorted(kinds))]), depth)

    def build(self, result, producer, depth):
        shape, pieces = producer
        return Expression(result, [piece if isinstance(piece, str) else self.argument(*piece, depth - 1) for piece in pieces], shape)

    def argument(self, role, type_name, depth):
        if role == "word":
            return Expression(type_name, [self.one(special_forms.WORDS[type_name])])
        if role == "modest":
            return Expression(type_name, [f"({self.one(MODEST_VALUES)})::{type_name}" if type_name in SCALARS else "array[2,3]"])
        if type_name in ("ANY", "any"):
            return self.of_type(self.one(self.catalog.types), depth)
        if type_name == "BUILT_IN":
            return self.of_type(self.one([name for name in self.catalog.types if not name.endswith("mood")]), depth)
        if role == "argument":
            other = self.random.random()
            if other < 0.08 and type_name in self.implicit:
                return self.of_type(self.one(self.implicit[type_name]), depth)
            if other < 0.10:
                # A literal without a type would be read as one of the type that is wanted.
                self.is_other_type = True
                given = self.of_type(self.one(self.catalog.types), depth)
                self.is_other_type = False
                return given
        return self.of_type(type_name, depth)
