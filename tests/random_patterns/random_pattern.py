"""Random regular expressions and texts that they may match: both from one seed."""
import random

CHARACTERS = "aaaabbbcAB1_ \n.-é€😀"
CLASSES = ["alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit",
           "word", "ascii"]
NAMES = ["a", "hyphen", "space", "tab", "NUL", "period", "é", "none-such", "", "left-square-bracket"]
NOISE = list("()[]{}*+?|^$\\.,:=-#<!&0123abx \n") + ["(?", "(?:", "(?=", "(?!", "(?<=", "(?<!", "[[:", ":]]", "[.", ".]", "{1,2}", "{,",
                                                     "\\m", "\\1", "***:", "***=", "(?i)", "(?x)", "(?#", "[[:<:]]", "\\u00e9"]


class RandomPatterns:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.groups = 0
        # Each pattern is of a kind: so captures, lookarounds and the rest meet often enough, but not always.
        self.kind = {}

    def one(self, choices):
        return self.random.choice(choices)

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def text(self):
        length = self.one([0, 1, 2, 3, 4, 5, 6, 8, 10, 14, 20] * 8 + [400])
        alphabet = self.one(["ab", "abc", "aab", "abAB", "ab\n", "ab 1_", CHARACTERS, CHARACTERS])
        return "".join(self.one(alphabet) for _ in range(length))

    def pattern(self):
        self.groups = 0
        self.kind = {"captures": self.one([0, 30, 60, 90]), "references": self.one([0, 0, 0, 15]),
                     "looks": self.one([0, 0, 0, 12]), "anchors": self.one([0, 5, 20]),
                     "shortest": self.one([0, 20, 50, 90]), "bounds": self.one([0, 20, 60]),
                     "rich": self.one([0, 0, 20, 60])}
        made = self.alternation(self.one([1, 2, 2, 3, 3, 4]))
        if self.chance(8):
            made = self.one(["***:", "***=", "(?i)", "(?x)", "(?n)", "(?p)", "(?w)", "(?q)", "(?e)", "(?b)", "(?ic)", "(?s)",
                             "(?xi)", "(?m)", "(?t)", "***:(?i)", "(?iq)", "(?z)", "***?", "***a"]) + made
        if self.chance(6):
            made = self.with_noise(made)
        return made

    def noise(self):
        return "".join(self.one(NOISE) for _ in range(self.random.randint(1, 12)))

    def with_noise(self, text):
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randint(0, len(text))
            cut = self.one([0, 0, 1, 2])
            text = text[:at] + self.one(NOISE + [""]) + text[at + cut:]
        return text

    def alternation(self, depth):
        return "|".join(self.branch(depth) for _ in range(self.one([1, 1, 1, 2, 2, 3])))

    def branch(self, depth):
        return "".join(self.item(depth) for _ in range(self.one([0, 1, 1, 2, 2, 3, 4])))

    def item(self, depth):
        if self.chance(self.kind["anchors"]):
            return self.one(["^", "$", "\\A", "\\Z", "\\m", "\\M", "\\y", "\\Y", "[[:<:]]", "[[:>:]]"])
        if depth > 0 and self.chance(self.kind["looks"]):
            outer = self.groups
            inner = self.alternation(depth - 1)
            self.groups = outer
            return self.one(["(?=", "(?!", "(?<=", "(?<!"]) + inner + ")"
        return self.atom(depth) + self.quantifier()

    def quantifier(self):
        if not self.chance(45):
            return ""
        shortest = "?" if self.chance(self.kind["shortest"]) else ""
        if self.chance(self.kind["bounds"]):
            low = self.random.randint(0, 3)
            high = self.random.randint(low, 4)
            return self.one([f"{{{low}}}", f"{{{low},}}", f"{{{low},{high}}}"]) + shortest
        return self.one(["*", "+", "?"]) + shortest

    def atom(self, depth):
        if depth > 0 and self.chance(45):
            if self.chance(self.kind["captures"]):
                inner = self.alternation(depth - 1)
                self.groups += 1
                return "(" + inner + ")"
            return "(?:" + self.alternation(depth - 1) + ")"
        if self.groups > 0 and self.chance(self.kind["references"]):
            return "\\" + str(self.random.randint(1, self.groups))
        if self.chance(self.kind["rich"]):
            return self.one([self.bracket, self.escape, lambda: self.one(CHARACTERS)])()
        return self.one(["a", "a", "b", "b", "c", ".", "[ab]", "[^a]"])

    def escape(self):
        return self.one(["\\d", "\\s", "\\w", "\\D", "\\S", "\\W", "\\n", "\\t", "\\.", "\\x61", "\\u0061", "\\U0001F600", "\\141",
                         "\\0", "\\e", "\\B", "\\cA", "\\q", "\\é", "\\u00e9", "\\x{61}", "\\12"])

    def bracket(self):
        members = "".join(self.member() for _ in range(self.one([1, 1, 2, 3])))
        return "[" + self.one(["", "", "^"]) + members + "]"

    def member(self):
        kind = self.random.randint(0, 9)
        if kind < 4:
            return self.one("abcAB1_ -^.é€]")
        if kind < 6:
            return self.one(["a-b", "a-z", "A-b", "0-9", "é-€", "b-a", "--1", "a-[.c.]", "[.a.]-c", "!--", "a-c-e"])
        if kind == 6:
            return f"[:{self.one(CLASSES + ['none', 'ALPHA'])}:]" if self.chance(90) else "[:alpha"
        if kind == 7:
            return f"[.{self.one(NAMES)}.]"
        if kind == 8:
            return f"[={self.one(NAMES)}=]"
        return self.one(["\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\n", "\\]", "\\\\", "\\x41", "\\m", "\\1"])

    def similar(self):
        return "".join(self.one(["a", "b", "%", "_", "|", "(", ")", "*", "+", "?", "{1,2}", "[ab]", "[^a]", "#%", "#\"", ".", "^", "$",
                                 "\\", "é", "a%", "(a|b)", "(ab)*"]) for _ in range(self.random.randint(0, 7)))

    def flags(self):
        return "".join(self.one("gicnpwxtsmebq") for _ in range(self.one([0, 0, 1, 1, 2, 3])))

    def replacement(self):
        return "".join(self.one(["<", ">", "\\1", "\\2", "\\&", "\\\\", "\\x", "-", "\\9", "\\"]) for _ in range(self.random.randint(0, 4)))
