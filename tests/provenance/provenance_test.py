#!/usr/bin/env python3
"""An attacker's tests of the program: code, names and settings that others made, none of which may be believed.

    tests/provenance/provenance_test.py PROGRAM [TEST ...]

Kernels of CPUs are the attacker's code here; where the program finds no compiler for CPUs, those tests are left out.
"""
import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
# The compiler of kernels for CPUs, which a build may leave out.
HAS_LLVM = pathlib.Path(PROGRAM).with_name("librondo_llvm.so").exists() and os.environ.get("RONDO_LLVM") != "none"
SHAPE = ["--shape", "B=1,T=32,H=1,D=64", "--dtype", "fp32"]
CELL = "cell leaky(D) {\n  input x[D]\n  state h[D]\n  next h = 0.5 * h + 1.25 * x\n  output h\n}\n"


def npy(values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': (1, 32, 1, 64), }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}f", *values)


def sha(data):
    return hashlib.sha256(data).hexdigest()


def fields_hash(domain, *fields):
    framed = b""
    for field in (domain.encode(), *fields):
        framed += str(len(field)).encode() + b":" + field
    return sha(framed)


def poisoned(executable):
    """The stored executable with other constants in its machine code, if it has them, and all hashes made right."""
    start = executable.index(b"\x7fELF")
    size = struct.unpack("<I", executable[start - 4:start])[0]
    code = executable[start:start + size]
    bad = code.replace(struct.pack("<f", 1.25), struct.pack("<f", 1.75))
    bad = bad.replace(struct.pack("<f", 0.5), struct.pack("<f", 0.75))
    head = 8 + 4 + 8 + 64
    payload = executable[head:].replace(code, bad).replace(sha(code).encode(), sha(bad).encode())
    return executable[:head - 64] + sha(payload).encode() + payload


def poison(path):
    database, changed = sqlite3.connect(path), 0
    for key, image, resources in database.execute("SELECT key, image, resources FROM cubins").fetchall():
        bad = poisoned(image)
        changed += bad != image
        database.execute("UPDATE cubins SET image = ?, digest = ? WHERE key = ?",
                         (bad, fields_hash("rondo-image-1", bad, resources.encode()), key))
    database.commit()
    database.close()
    assert changed, "the constants are in the code"


class Attack(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rondo-attack-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "leaky.cell").write_text(CELL)
        (self.folder / "x.npy").write_bytes(npy([0.01 * (i % 97) - 0.4 for i in range(32 * 64)]))

    def path(self, name):
        return str(self.folder / name)

    def rondo(self, *words, env=None, expect=0, **how):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "RONDO_LIBCUDA": "none", "RONDO_SHIPPED": "none",
                       "RONDO_THREADS": "1", **{k: v for k, v in os.environ.items() if k in ("RONDO_LLVM", "RONDO_NVRTC")}, **(env or {})}
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, env=environment, capture_output=True, text=True,
                              errors="replace", timeout=100, check=False, **how)
        if expect is not None:
            self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def query(self, name, sql):
        database = sqlite3.connect(self.path(name))
        rows = database.execute(sql).fetchall()
        database.commit()
        database.close()
        return rows


@unittest.skipUnless(HAS_LLVM, "built without LLVM")
class Kernels(Attack):
    """Machine code that comes with a database."""

    def setUp(self):
        super().setUp()
        said = self.rondo("run", "leaky.cell", "--arch", "cpu", "--no-db", *SHAPE, "--input", "x=x.npy", "--out", "h=right.npy").stdout
        self.assertIn("host", said, "a kernel computes, not the reference")

    def tune(self, name):
        self.rondo("tune", "leaky.cell", "--arch", "cpu", "--db", name, "--budget", "2s", *SHAPE)

    def merge(self, name, into, kernels=True):
        asked = ["--with-kernels"] if kernels and "--with-kernels" in self.rondo("db", "merge", "--help").stdout else []
        self.rondo("db", "merge", name, "--db", into, *asked)

    def compute(self, name, *words, env=None):
        """How a run ended, and whether it gave a wrong result."""
        out = self.folder / "h.npy"
        out.unlink(missing_ok=True)
        done = self.rondo("run", "leaky.cell", "--arch", "cpu", "--db", name, *SHAPE, "--input", "x=x.npy", "--out", "h=h.npy", *words,
                          env=env, expect=None)
        return done, out.exists() and not self.agree(out, self.folder / "right.npy")

    @staticmethod
    def agree(one, other):
        values = [struct.unpack("<2048f", path.read_bytes()[-8192:]) for path in (one, other)]
        return all(abs(a - b) < 1e-3 for a, b in zip(*values))

    def test_merging_leaves_kernels_behind(self):
        self.tune("a.db")
        self.rondo("db", "merge", "a.db", "--db", "b.db")
        self.assertEqual(self.query("b.db", "SELECT count(*) FROM trials") > [(0,)], True)
        self.assertEqual(self.query("b.db", "SELECT count(*) FROM cubins"), [(0,)])

    def test_code_under_the_models_key_does_not_run(self):
        for _ in range(4):  # until the model's choice, with which a search begins, and others were compiled
            self.tune("evil.db")
            if self.query("evil.db", "SELECT count(*) FROM cubins") > [(2,)]:
                break
        for table in ("verifications", "best", "trials"):
            self.query("evil.db", f"DELETE FROM {table}")
        poison(self.path("evil.db"))
        self.merge("evil.db", "victim.db")
        done, wrong = self.compute("victim.db")
        self.assertFalse(wrong, done.stdout + done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def lock(self, name):
        """A pinned choice must be a kernel: without a compiler the reference does not stand in."""
        self.rondo("db", "lock", "--db", name, "-o", "choices.lock")
        return ["--lock", "choices.lock"]

    def test_merged_code_is_verified_in_a_process_of_its_own_and_blocked(self):
        self.tune("evil.db")
        lock = self.lock("evil.db")
        poison(self.path("evil.db"))
        self.merge("evil.db", "victim.db")
        alone = {"RONDO_LLVM": "none"}
        done, wrong = self.compute("victim.db", *lock, env=alone)
        self.assertFalse(wrong, done.stderr)
        self.assertIn("merged from", done.stderr)
        self.assertIn("is not used", done.stderr)
        self.assertIn("blocked", self.rondo("db", "list", "--db", "victim.db").stdout)
        done, wrong = self.compute("victim.db", *lock, env=alone)
        self.assertFalse(wrong, done.stderr)
        done, wrong = self.compute("victim.db", *lock)  # with a compiler it is compiled here
        self.assertFalse(wrong, done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_merged_code_that_is_right_says_where_it_is_from(self):
        self.tune("honest.db")
        lock = self.lock("honest.db")
        self.merge("honest.db", "mine.db")
        self.assertIn("kernel merged from '", self.rondo("db", "list", "--db", "mine.db").stdout)
        alone = {"RONDO_LLVM": "none"}
        done, wrong = self.compute("mine.db", *lock, env=alone)
        self.assertFalse(wrong)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a trial process verified it", done.stderr)
        done, wrong = self.compute("mine.db", *lock, "--strict", env=alone)
        self.assertEqual((done.returncode, wrong), (0, False), done.stderr)
        self.assertNotIn("a trial process verified it", done.stderr)
        self.assertIn("merged from", done.stdout + done.stderr)

    def test_a_swapped_image_is_not_what_was_verified(self):
        self.tune("a.db")
        done, wrong = self.compute("a.db", "--strict")
        self.assertEqual((done.returncode, wrong), (0, False), done.stderr)
        lock = self.lock("a.db")
        poison(self.path("a.db"))
        for words, env in ((["--strict", *lock], {"RONDO_LLVM": "none"}), (["--strict"], {}), (lock, {"RONDO_LLVM": "none"}), ([], {})):
            done, wrong = self.compute("a.db", *words, env=env)
            self.assertFalse(wrong, done.stdout + done.stderr)

    def test_a_proof_is_of_a_machine_and_not_of_a_name(self):
        self.tune("a.db")
        (device,), = self.query("a.db", "SELECT DISTINCT device FROM verifications WHERE passed")
        self.query("a.db", f"UPDATE verifications SET device = '{device.split(' #')[0]}'")
        done, _ = self.compute("a.db", "--strict")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("was not verified on this machine", done.stderr)


class Packages(Attack):
    def test_code_of_others_is_not_packed(self):
        problem = ["--shape", "B=8,T=4096,H=1,D=1536", "--dtype", "bf16", "--pass", "fw"]
        build = ["package", "build", "mingru", *problem, "--arch", "h200", "--ptx", "none", "--no-self-test"]
        findings = json.loads(self.rondo("doctor", "--json").stdout)["findings"]
        compilers = {one["subject"]: one["health"] for one in findings if one["subject"] in ("NVRTC", "LLVM")}
        self.assertEqual(len(compilers), 2)
        if set(compilers.values()) == {"missing"}:
            self.skipTest("no compiler for GPUs")
        tuned = self.rondo("tune", "mingru", "--no-gpu", "--arch", "h200", *problem, "--db", "evil.db", "--budget", "1s", "--json")
        self.assertNotEqual(self.query("evil.db", "SELECT count(*) FROM cubins"), [(0,)])
        # A record whose code is known by its key needs no compiler.
        best = json.loads(tuned.stdout)["passes"][0]["best"]
        self.rondo("db", "import", str(ROOT / "tuning_db" / "shipped" / "h200.json"), "--db", "evil.db")
        own = ("problem IN (SELECT p.id FROM problems p JOIN cells c ON c.hash = p.cell WHERE c.name = 'mingru' AND p.pass = 'fw' AND "
               "p.dtype = 'bf16' AND p.b = 8 AND p.t = 4096 AND p.d = 1536)")
        self.query("evil.db", f"UPDATE trials SET cubin_key = (SELECT key FROM cubins LIMIT 1), strategy = '{best['strategy']}', "
                              f"parameters = '{json.dumps(best['parameters'])}' WHERE {own}")
        hidden = {"RONDO_LLVM": "none", "RONDO_NVRTC": "none"}
        self.rondo(*build, "--db", "evil.db", "-o", "own.rondo", env=hidden)
        asked = ["--with-kernels"] if "--with-kernels" in self.rondo("db", "merge", "--help").stdout else []
        self.rondo("db", "merge", "evil.db", "--db", "victim.db", *asked)
        done = self.rondo(*build, "--db", "victim.db", "-o", "packed.rondo", env=hidden, expect=None)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn("never packed", done.stderr)
        self.assertFalse((self.folder / "packed.rondo").exists())


class Names(Attack):
    """Files that lie beside what the program reads and writes."""

    def test_a_journal_deletes_no_file(self):
        victim = self.folder / "victim"
        victim.write_text("precious")
        self.rondo("tune", "leaky.cell", "--no-gpu", "--arch", "sm_90", "--db", "a.db", "--budget", "1s", *SHAPE, expect=None)
        if not pathlib.Path(self.path("a.db")).exists():
            self.rondo("db", "merge", "none.db", "--db", "a.db", expect=None)
        size = os.path.getsize(self.path("a.db"))
        page = struct.unpack(">H", pathlib.Path(self.path("a.db")).read_bytes()[16:18])[0] or 65536
        magic, name = bytes.fromhex("d9d505f920a163d7"), str(victim).encode()
        journal = (magic + struct.pack(">IIIII", 0, 7, size // page, 512, page)).ljust(512, b"\0")
        journal += struct.pack(">I", (1 << 30) // page + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
        for words in (["db", "list", "--db", "a.db"], ["db", "check", "--db", "a.db"], ["db", "merge", "a.db", "--db", "b.db"],
                      ["db", "prune", "--db", "a.db"]):
            pathlib.Path(self.path("a.db-journal")).write_bytes(journal)
            done = self.rondo(*words, expect=None)
            self.assertTrue(victim.exists(), f"{words}: {done.stderr}")
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn("would delete another file", done.stderr)

    def test_links_under_temporary_names_are_not_followed(self):
        victim = self.folder / "victim"
        victim.write_text("precious")
        first = int(pathlib.Path("/proc/loadavg").read_text().split()[-1])  # the newest process
        for number in range(first, first + 3000):
            os.symlink(victim, self.folder / f"out.cu.{number}.tmp")
        self.rondo("check", "leaky.cell")
        self.rondo("emit", "leaky.cell", "--no-db", "--stage", "cuda", "-o", "out.cu", expect=0)
        self.assertEqual(victim.read_text(), "precious")
        self.assertFalse((self.folder / "out.cu").is_symlink())

    def test_a_pipe_is_not_waited_for(self):
        os.mkfifo(self.folder / "pipe")
        stuck = []

        def writer():
            done = self.rondo("db", "list", "--db", "pipe", expect=None)
            stuck.append(done.returncode)

        thread = threading.Thread(target=writer, daemon=True)
        thread.start()
        thread.join(10)
        self.assertEqual(stuck, [5], "refused, and not waited for")


class Settings(Attack):
    """What the environment says, and where libraries lie."""

    def open_folder(self):
        self.folder.chmod(0o755)
        return self.folder

    def test_a_program_with_more_rights_believes_no_environment(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to make such a program")
        copy = self.open_folder() / "privileged"
        shutil.copy(PROGRAM, copy)
        os.chown(copy, 0, 4343)
        copy.chmod(0o2755)
        if os.statvfs(copy).f_flag & os.ST_NOSUID:
            self.skipTest("the file system has no set-group-ID")
        done = subprocess.run([str(copy), "db", "list"], cwd="/", env={"RONDO_DB": "/planted/tuning.db"}, capture_output=True, text=True,
                              user=65534, group=65534, extra_groups=[], check=False, timeout=60)
        self.assertNotIn("planted", done.stdout + done.stderr)
        self.assertIn("no place for the tuning database", done.stderr)

    def test_no_plugin_from_a_folder_that_others_may_write(self):
        compiler = shutil.which("cc")
        self.assertTrue(compiler, "there is no C compiler to make a plugin with: run tools/setup")
        home = self.open_folder() / "installed"
        (home / "rondo").mkdir(parents=True)
        shutil.copy(PROGRAM, home / "program")
        (self.folder / "evil.c").write_text('#include <stdio.h>\n__attribute__((constructor)) static void run(void) '
                                            f'{{ FILE* f = fopen("{self.folder}/ran", "w"); if (f) fclose(f); }}\n')
        plugin = home / "rondo" / "librondo_llvm.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(plugin), str(self.folder / "evil.c")], check=True)
        (home / "rondo").chmod(0o777)
        done = subprocess.run([str(home / "program"), "doctor"], env={"PATH": "/usr/bin:/bin", "RONDO_LIBCUDA": "none", "RONDO_NVRTC": "none"},
                              cwd=self.folder, capture_output=True, text=True, check=False, timeout=60)
        self.assertFalse((self.folder / "ran").exists(), done.stdout + done.stderr)
        self.assertIn("other users may change it", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
