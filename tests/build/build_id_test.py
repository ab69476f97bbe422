"""cmake/build_id.cmake: the id follows names and contents of the sources, and nothing else."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CMAKE = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else shutil.which("cmake")
FOLDERS = "compiler,engine/plan"
FILES = {"compiler/a.cpp": "int a;\n", "compiler/kernel/ir/b.h": "int b;\n", "compiler/prelude/c.cuh": "int c;\n",
         "engine/plan/d.cpp": "int d;\n"}


def make_tree(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def run(root, out):
    subprocess.run([CMAKE, f"-DOUT={out}", "-DNAMESPACE=rondo::executable", "-DFUNCTION=build_id", f"-DROOT={root}",
                    f"-DFOLDERS={FOLDERS}", "-P", ROOT / "cmake/build_id.cmake"], check=True)
    return re.search(r'"([0-9a-f]{64})"', out.read_text()).group(1)


class BuildId(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def id_of(self, files):
        root = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        make_tree(root, files)
        return run(root, root / "out.cpp")

    def test_the_place_of_the_tree_and_other_files_do_not_count(self):
        for others in ({}, {"runtime/launch/e.cpp": "int e;\n"}, {"compiler/notes.md": "notes\n"},
                       {"tests/compiler/f.cpp": "int f;\n"}):
            self.assertEqual(self.id_of(FILES | others), self.id_of(FILES), others)

    def test_every_source_counts(self):
        ids = [self.id_of(FILES)]
        for path in FILES:
            ids.append(self.id_of(FILES | {path: FILES[path] + " "}))
            ids.append(self.id_of({p: t for p, t in FILES.items() if p != path}))
        self.assertEqual(len(set(ids)), len(ids))

    def test_names_count(self):
        renamed = {p.replace("a.cpp", "z.cpp"): t for p, t in FILES.items()}
        swapped = FILES | {"compiler/a.cpp": FILES["engine/plan/d.cpp"], "engine/plan/d.cpp": FILES["compiler/a.cpp"]}
        added = FILES | {"compiler/e.cpp": ""}
        self.assertEqual(len({self.id_of(files) for files in (FILES, renamed, swapped, added)}), 4)

    def test_nothing_is_written_where_nothing_changed(self):
        make_tree(self.folder, FILES)
        out = self.folder / "out.cpp"
        before = run(self.folder, out)
        os.utime(out, (1, 1))
        os.utime(self.folder / "compiler/a.cpp")
        self.assertEqual(run(self.folder, out), before)
        self.assertEqual(out.stat().st_mtime, 1)
        (self.folder / "compiler/a.cpp").write_text("int changed;\n")
        self.assertNotEqual(run(self.folder, out), before)
        self.assertNotEqual(out.stat().st_mtime, 1)

    def test_no_sources_are_an_error(self):
        with self.assertRaises(subprocess.CalledProcessError):
            run(self.folder, self.folder / "out.cpp")


if __name__ == "__main__":
    unittest.main()
