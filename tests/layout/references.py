"""Names of files in docs and comments that lead nowhere."""
import glob
import os
import re
import subprocess

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
QUOTED = re.compile(r"`([A-Za-z_][\w./*{},-]*)`")
PAGE = re.compile(r"\b((?:docs/)?(?:[a-z_]+/)?[a-z_-]+\.md)\b")
MADE = {"wal"}  # folders of the tree that a data directory has, too: what lies there is no file of the tree


class Tree:
    def __init__(self, root):
        self.root = root
        listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True,
                                check=True)
        self.files = {name for name in listed.stdout.split("\n") if name}
        self.folders = {os.path.dirname(name)[:end] for name in self.files
                        for end in [m.start() for m in re.finditer("/|$", os.path.dirname(name))]}
        self.tops = {name.split("/")[0] for name in self.files if "/" in name}

    def has(self, path):
        """A file or folder, also without its ending, or a pattern that some file fits."""
        path = path.rstrip("/")
        where = os.path.join(self.root, path)
        return path in self.files or path in self.folders or bool(glob.glob(where) if "*" in path else glob.glob(where + ".*"))


def alternatives(path):
    """`a/b.{h,cpp}` is two."""
    found = re.match(r"(.*)\{(.*)\}(.*)", path)
    return [found.group(1) + each + found.group(3) for each in found.group(2).split(",")] if found else [path]


def of_page(tree, page, line):
    for path in LINK.findall(line):
        if not path.startswith("http") and not tree.has(os.path.normpath(os.path.join(os.path.dirname(page), path))):
            yield path
    for path in QUOTED.findall(line):
        top = path.split("/")[0]
        if "/" not in path or top not in tree.tops:
            continue
        if not all(tree.has(each) or (top in MADE and path.count("/") == 1) for each in alternatives(path)):
            yield path


def of_source(tree, line):
    comment = re.search(r"//(.*)", line)
    for path in PAGE.findall(comment.group(1)) if comment else []:
        if not tree.has(path) and not tree.has("docs/" + path):
            yield path


def dangling_references(root):
    tree = Tree(root)
    for path in sorted(tree.files):
        if not path.endswith((".md", ".h", ".cpp")) or not os.path.exists(os.path.join(root, path)):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                found = of_page(tree, path, line) if path.endswith(".md") else of_source(tree, line)
                for name in found:
                    yield f"{path}:{number}: there is no {name}"
