"""Plots as SVG: panels over a common horizontal axis, with lines, shaded spans and a legend."""
import math
from xml.sax.saxutils import escape

COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#c77d0a", "#6a4c93", "#555555")
WIDTH, LEFT, RIGHT, TOP, GAP = 900, 90, 20, 50, 45


def ticks(low, high, wanted=5):
    """Round numbers that divide [low, high] into about as many parts."""
    step = 10 ** math.floor(math.log10((high - low) / wanted))
    step = next(step * factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= wanted)
    return [index * step for index in range(math.ceil(low / step), math.floor(high / step + 1e-9) + 1)]


def number(value):
    """A short label: 1.5 M, 200 k, 0.05."""
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


class Axis:
    """From data to coordinates; `logarithmic` has a tick per decade. Without data from 0 to 1."""

    def __init__(self, values, start, end, logarithmic=False, headroom=1.0):
        values = [value for value in values if value is not None and (value > 0 or not logarithmic)] or [0.1 if logarithmic else 0, 1]
        self.start, self.end, self.logarithmic = start, end, logarithmic
        if logarithmic:
            self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
            self.high = max(self.high, self.low + 1)
            self.ticks = [10.0 ** power for power in range(self.low, self.high + 1)]
        else:
            self.low, self.high = 0, headroom * max(values)
            if self.high <= self.low:
                self.high = self.low + 1
            self.ticks = ticks(self.low, self.high)

    def at(self, value):
        place = math.log10(value) if self.logarithmic else value
        return self.start + (place - self.low) / (self.high - self.low) * (self.end - self.start)


class Panel:
    """`lines`: (label, [(x, y)], dashed); a y of None, or one that is not above 0 on a logarithmic axis, leaves a gap. Lines of
    one label have one colour."""

    def __init__(self, label, lines, logarithmic=False, markers=False):
        self.label, self.lines, self.logarithmic, self.markers = label, lines, logarithmic, markers

    def draw(self, x_axis, top, height, colours):
        bottom = top + height
        y_axis = Axis([y for _, points, _ in self.lines for _, y in points], bottom, top, self.logarithmic, headroom=1.05)
        for tick in y_axis.ticks:
            y = y_axis.at(tick)
            yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#ddd"/>'
            yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number(tick)}</text>'
        middle = top + height / 2
        yield f'<text x="22" y="{middle}" text-anchor="middle" transform="rotate(-90 22 {middle})">{escape(self.label)}</text>'
        for label, points, dashed in self.lines:
            yield from self.draw_line(x_axis, y_axis, points, colours[label], dashed)
        yield f'<rect x="{LEFT}" y="{top}" width="{WIDTH - LEFT - RIGHT}" height="{height}" fill="none" stroke="#333"/>'

    def draw_line(self, x_axis, y_axis, points, colour, dashed):
        dash = ' stroke-dasharray="5 3"' if dashed else ""
        for piece in self.pieces(points):
            places = [(x_axis.at(x), y_axis.at(y)) for x, y in piece]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}/>'
            if self.markers:
                yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places)

    def pieces(self, points):
        piece = []
        for x, y in points:
            if y is not None and (y > 0 or not self.logarithmic):
                piece.append((x, y))
            elif piece:
                yield piece
                piece = []
        if piece:
            yield piece


class Plot:
    """`spans`: (from, to) on the horizontal axis, shaded in every panel."""

    def __init__(self, title, x_label, panels, spans=(), logarithmic=False, height=220):
        self.title, self.x_label, self.panels, self.spans = title, x_label, panels, spans
        self.logarithmic, self.height = logarithmic, height

    def save(self, path):
        with open(path, "w") as file:
            file.write("\n".join(self.draw()) + "\n")

    def draw(self):
        xs = [x for panel in self.panels for _, points, _ in panel.lines for x, _ in points]
        x_axis = Axis(xs, LEFT, WIDTH - RIGHT, self.logarithmic)
        labels = list(dict.fromkeys(label for panel in self.panels for label, _, _ in panel.lines))
        colours = {label: COLOURS[index % len(COLOURS)] for index, label in enumerate(labels)}
        total = TOP + len(self.panels) * (self.height + GAP) + 10
        yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{total}" font-family="sans-serif" font-size="12">'
        yield f'<rect width="{WIDTH}" height="{total}" fill="white"/>'
        yield f'<text x="{LEFT}" y="18" font-size="14">{escape(self.title)}</text>'
        yield from self.draw_legend(colours)
        for index, panel in enumerate(self.panels):
            top = TOP + index * (self.height + GAP)
            yield from self.shade(x_axis, top)
            yield from panel.draw(x_axis, top, self.height, colours)
            yield from (f'<text x="{x_axis.at(tick):.1f}" y="{top + self.height + 16}" text-anchor="middle">{number(tick)}</text>'
                        for tick in x_axis.ticks)
        yield f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{total - 14}" text-anchor="middle">{escape(self.x_label)}</text>'
        yield "</svg>"

    def draw_legend(self, colours):
        x = LEFT
        for label, colour in colours.items():
            yield f'<line x1="{x}" y1="34" x2="{x + 22}" y2="34" stroke="{colour}" stroke-width="2"/>'
            yield f'<text x="{x + 27}" y="38">{escape(label)}</text>'
            x += 45 + 7 * len(label)

    def shade(self, x_axis, top):
        for begin, end in self.spans:
            left, right = x_axis.at(begin), min(x_axis.at(end), x_axis.end)
            yield f'<rect x="{left:.1f}" y="{top}" width="{right - left:.1f}" height="{self.height}" fill="#e4e4e4"/>'
