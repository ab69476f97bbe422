"""The pages for people: links and anchors lead somewhere, lines and pages stay short."""
import fnmatch
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LONGEST_LINE = 119  # characters of prose
LONGEST_PAGE = 2500  # words
LONGEST_README = 179  # lines
NOT_OURS = {"cuda.h", "prelude/NAME.cuh", "file.cpp", "NAME.cuh"}


def pages(root):
    return [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]


def all_pages(root):
    """With those that lie beside examples, which need no link."""
    return pages(root) + sorted((root / "examples").rglob("*.md"))


def prose(text):
    """(line number, line) of all lines that are not code. Tables and headings are among them."""
    fenced = False
    after_blank, in_list = True, False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            indented = line.startswith("    ") and after_blank and not in_list
            if line.strip() and not line.startswith(" "):
                in_list = bool(re.match(r"([-*]|\d+\.) ", line))
            if not indented:
                yield number, line
                after_blank = not line.strip()
            continue
        after_blank = True


def anchors(text):
    """Of the headings of a page, as GitHub forms them."""
    found = set()
    for _, line in prose(text):
        if heading := re.match(r"#+ (.*)", line):
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
            slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            number = 0
            while (name := slug if number == 0 else f"{slug}-{number}") in found:
                number += 1
            found.add(name)
    return found


def links(text):
    """(line number, target) of links and pictures."""
    for number, line in prose(text):
        without_code = re.sub(r"`[^`]*`", "", line)
        for target in re.findall(r"\]\(([^)\s]+)\)", without_code) + re.findall(r'(?:href|src)="([^"]+)"', without_code):
            yield number, target


def broken_links(root):
    found = []
    for page in all_pages(root):
        for number, target in links(page.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            at = f"{page.relative_to(root)}:{number}: '{target}'"
            if not file.is_relative_to(root.resolve()) or not file.exists():
                found.append(f"{at}: there is no such file")
            elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
                found.append(f"{at}: the page has no such heading")
    return found


def files_in_comments(root):
    """Sources that a comment of the product names and that are not there. A name may leave out leading folders."""
    folders = [root / name for name in ("compiler", "runtime", "engine", "tuner", "tuning_db", "tools", "docs", "cells", "tests", "cmake")]
    there = [f"/{path.relative_to(root).as_posix()}" for folder in folders for path in folder.rglob("*.*")]
    found = []
    for source in (path for folder in folders[:5] for path in sorted(folder.rglob("*.*")) if path.suffix in (".h", ".cpp")):
        for number, line in enumerate(source.read_text(encoding="utf-8").split("\n"), 1):
            comment = line.partition("//")[2]
            for name in re.findall(r"[A-Za-z_][\w/-]*\.(?:h|cpp|cuh|py|md|cell)\b", comment):
                if name not in NOT_OURS and not any(path.endswith(f"/{name}") for path in there):
                    found.append(f"{source.relative_to(root)}:{number}: '{name}': there is no such file")
    return found


def tails(root):
    """All paths of the tree, each with the paths that are left of it where leading folders are left out."""
    skipped = re.compile(r"\.|build\b")
    found = set()
    for top in (path for path in root.iterdir() if not skipped.match(path.name)):
        for path in (top, *top.rglob("*")):
            parts = path.relative_to(root).parts
            found.update("/".join(parts[first:]) for first in range(len(parts)))
    return found


def lost_paths(root):
    """Files and folders that a page names between backticks and that are not there. A name may leave out leading
    folders, and capitals in it stand for any name: cells/NAME.cell. What is built, and the user's own, do not count."""
    there = tails(root)
    folders = {path.partition("/")[0] for path in there if "/" in path} - {"build"}
    found = []
    for page in all_pages(root):
        for number, line in prose(page.read_text(encoding="utf-8")):
            for word in (word for code in re.findall(r"`([^`]+)`", line) for word in code.split()):
                path = re.sub(r"[A-Z]{2,}", "*", word.rstrip("/,:;"))
                ours = re.fullmatch(r"([a-z_]+)(/[\w.*-]+)+", path)
                source = re.fullmatch(r"[\w-]+\.(h|hpp|cpp|cuh|py|md)", path) and path not in NOT_OURS
                if (source or ours and ours.group(1) in folders) and path not in there and not fnmatch.filter(there, path):
                    found.append(f"{page.relative_to(root)}:{number}: '{word}': there is no such path")
    return found


def records_in_pages(root):
    """Records of benchmarks/results that a page names and that are not there. GPU stands for any GPU's name."""
    found = []
    for page in all_pages(root):
        for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
            for name in re.findall(r"benchmarks/results/(?!GPU-)([\w.-]+\.json)\b", line):
                if not (root / "benchmarks/results" / name).exists():
                    found.append(f"{page.relative_to(root)}:{number}: '{name}': there is no such record")
    return found


def hashes_in_pages(root):
    """Commits that a page names: they stand in the records, where nobody has to read them."""
    return [f"{page.relative_to(root)}:{number}: '{found}'" for page in all_pages(root)
            for number, line in prose(page.read_text(encoding="utf-8"))
            for found in re.findall(r"\b(?=[a-f]*\d)(?=\d*[a-f])(?:[0-9a-f]{7,12}|[0-9a-f]{40})\b", line)]


def unreachable(root):
    """Pages of docs that no link leads to."""
    reached, waiting = set(), [root / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page in reached:
            continue
        reached.add(page)
        for _, target in links(page.read_text(encoding="utf-8")):
            file = (page.parent / target.partition("#")[0]).resolve()
            if file.suffix == ".md" and file.exists():
                waiting.append(file)
    return [str(page.relative_to(root)) for page in pages(root) if page.resolve() not in reached]


def long_lines(root):
    return [f"{page.relative_to(root)}:{number}: {len(line)} characters" for page in all_pages(root)
            for number, line in prose(page.read_text(encoding="utf-8"))
            if len(line) > LONGEST_LINE and not line.startswith("|")]


def long_pages(root):
    found = []
    for page in all_pages(root):
        text = page.read_text(encoding="utf-8")
        if (words := len(text.split())) > LONGEST_PAGE:
            found.append(f"{page.relative_to(root)}: {words} words")
        if page.name == "README.md" and page.parent == root and (lines := text.count("\n")) > LONGEST_README:
            found.append(f"README.md: {lines} lines")
    return found


class Pages(unittest.TestCase):
    def test_links_and_anchors_lead_somewhere(self):
        self.assertEqual(broken_links(ROOT), [])

    def test_every_page_is_linked(self):
        self.assertEqual(unreachable(ROOT), [])

    def test_comments_name_files_that_are_there(self):
        self.assertEqual(files_in_comments(ROOT), [])

    def test_pages_name_records_that_are_there(self):
        self.assertEqual(records_in_pages(ROOT), [])

    def test_paths_in_backticks_are_there(self):
        self.assertEqual(lost_paths(ROOT), [])

    def test_pages_name_no_commits(self):
        self.assertEqual(hashes_in_pages(ROOT), [])

    def test_lines_are_short(self):
        self.assertEqual(long_lines(ROOT), [])

    def test_pages_are_short(self):
        self.assertEqual(long_pages(ROOT), [])


class Checks(unittest.TestCase):
    """The checks themselves, on pages with planted mistakes."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name).resolve()
        (self.root / "docs").mkdir()
        self.write("CONTRIBUTING.md", "# Contributing\n")
        self.write("README.md", "# R\n\n[c](CONTRIBUTING.md) [a](docs/a.md#two-words-twice-1) [web](https://example.org/x)\n")
        self.write("docs/a.md", "# A\n\n## Two words, `twice`\n\n## Two words twice\n\n[up](../README.md) [here](#a)\n")

    def write(self, name, text):
        (self.root / name).write_text(text, encoding="utf-8")

    def test_sound_pages_pass(self):
        for check in (broken_links, lost_paths, unreachable, long_lines, long_pages):
            self.assertEqual(check(self.root), [], check.__name__)

    def test_a_missing_file_is_found(self):
        self.write("docs/a.md", "# A\n\n## Two words, `twice`\n\n## Two words twice\n\n![picture](no.svg)\n")
        self.assertEqual(broken_links(self.root), ["docs/a.md:7: 'no.svg': there is no such file"])

    def test_a_file_outside_is_no_file(self):
        self.write("docs/a.md", "# A\n\n## Two words, `twice`\n\n## Two words twice\n\n[out](../../../etc/hosts)\n")
        self.assertEqual(len(broken_links(self.root)), 1)

    def test_a_missing_heading_is_found(self):
        self.write("docs/a.md", "# A\n\n## Two words\n\n[here](#b)\n")
        self.assertEqual(broken_links(self.root), ["README.md:3: 'docs/a.md#two-words-twice-1': the page has no such heading",
                                                   "docs/a.md:5: '#b': the page has no such heading"])

    def test_headings_and_links_in_code_do_not_count(self):
        self.write("docs/a.md", "# A\n\n```\n## Two words twice\n## Two words twice\n[x](no.md)\n```\n\n`[x](no.md)`\n\n    [x](no.md)\n")
        self.assertEqual(len(broken_links(self.root)), 1, "the anchor that only stands in code")

    def test_a_comment_that_names_a_lost_file_is_found(self):
        (self.root / "runtime").mkdir()
        self.write("runtime/a.h", "int a;  // as in runtime/a.h and docs/a.md\nint b;  // as in old/a.h\n")
        self.assertEqual(files_in_comments(self.root), ["runtime/a.h:2: 'old/a.h': there is no such file"])

    def test_a_page_that_names_a_lost_record_is_found(self):
        (self.root / "benchmarks/results").mkdir(parents=True)
        self.write("benchmarks/results/a.json", "{}")
        self.write("CONTRIBUTING.md", "`benchmarks/results/a.json` and `benchmarks/results/GPU-a.json`\n\n    --out benchmarks/results/b.json\n")
        self.assertEqual(records_in_pages(self.root), ["CONTRIBUTING.md:3: 'b.json': there is no such record"])

    def test_a_path_in_backticks_that_is_lost_is_found(self):
        (self.root / "runtime/cuda").mkdir(parents=True)
        self.write("runtime/cuda/a.h", "int a;\n")
        self.write("docs/a.md", "# A\n\n## Two words, `twice`\n\n## Two words twice\n\n`runtime/cuda`, `cuda/a.h`, `a.h` and `runtime/NAME/a.h`\n"
                                "`tools/test runtime/cuda/b.h`, `cuda/b`, `b.h`, `runtime/NAME/b.h`\n\n    runtime/cuda/b.h\n\n`build/a.h`, `fw/bw`\n")
        self.assertEqual(lost_paths(self.root), [f"docs/a.md:8: '{path}': there is no such path"
                                                 for path in ("runtime/cuda/b.h", "cuda/b", "b.h", "runtime/NAME/b.h")])

    def test_a_commit_is_found(self):
        self.write("docs/a.md", f"# A\n\n## Two words, `twice`\n\n## Two words twice\n\nat 96909df and 1a03c800 with 1000000 cells, added\n"
                                f"\n    ece917bb\n\n| {'3f' * 20} |\n")
        self.assertEqual(hashes_in_pages(self.root), [f"docs/a.md:{found}" for found in ("7: '96909df'", "7: '1a03c800'", f"11: '{'3f' * 20}'")])

    def test_an_unlinked_page_is_found(self):
        self.write("docs/b.md", "# B\n")
        self.assertEqual(unreachable(self.root), ["docs/b.md"])

    def test_long_lines_are_found_outside_tables_and_code(self):
        long = "word " * 24
        self.write("docs/a.md", f"# A\n\n## Two words, `twice`\n\n## Two words twice\n\n| {long} |\n\n```\n{long}\n```\n\n    {long}\n\n- {long}\n"
                                f"\n  {long}\n")
        (self.root / "examples").mkdir()
        self.write("examples/README.md", long)
        self.assertEqual(long_lines(self.root), ["docs/a.md:15: 122 characters", "docs/a.md:17: 122 characters",
                                                 "examples/README.md:1: 120 characters"])

    def test_long_pages_are_found(self):
        self.write("docs/a.md", "word\n" * (LONGEST_PAGE + 1))
        self.write("README.md", "\n" * (LONGEST_README + 1))
        self.assertEqual(long_pages(self.root), [f"README.md: {LONGEST_README + 1} lines", f"docs/a.md: {LONGEST_PAGE + 1} words"])


if __name__ == "__main__":
    unittest.main()
