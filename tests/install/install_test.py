"""What is installed and packaged: symbols, needs, and programs built from a tree that was moved. Arguments: cmake and the
folder of a release build. Without a GPU the example of CUDA graphs is compiled and says that it has none."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CMAKE, BUILD = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
LIBRARY = BUILD / "librondo.so"
OLDEST_LIBC = (2, 34)  # Ubuntu 22.04 and RHEL 9; the .deb says so too


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} ends with {done.returncode}:\n{done.stdout}")
    return done.stdout


def listed():
    lines = (ROOT / "tools/librondo/symbols.txt").read_text().split("\n")
    return sorted(line for line in lines if line.startswith("rondo_"))


def newest_libc(path):
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-T", path))
    return max((int(major), int(minor)) for major, minor in versions)


class Symbols(unittest.TestCase):
    def test_the_library_exports_the_list_and_nothing_else(self):
        exported = [line.split() for line in run("nm", "-D", "--defined-only", LIBRARY).splitlines()]
        names = sorted(words[2].split("@")[0] for words in exported if words[1] != "A")
        self.assertEqual(names, listed())
        self.assertIn("RONDO_0", [words[2].split("@")[0] for words in exported])

    def test_the_list_is_what_the_headers_declare(self):
        declared = set()
        for header in (ROOT / "include/rondo").glob("*.h"):
            text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
            declared.update(re.findall(r"RONDO_API\s[^;]*?\b(rondo_\w+)\s*\(", text))
        self.assertEqual(sorted(declared), listed())

    def test_the_static_library_has_no_other_global_symbol(self):
        lines = run("nm", "-g", "--defined-only", BUILD / "librondo.a").splitlines()
        strong = sorted(line.split()[2] for line in lines if re.match(r"[0-9a-f]+ [A-Ziu] ", line))
        self.assertEqual(strong, listed())

    def test_what_it_needs(self):
        dynamic = run("readelf", "-d", LIBRARY)
        self.assertIn("Library soname: [librondo.so.0]", dynamic)
        needed = set(re.findall(r"Shared library: \[(.*?)\]", dynamic))
        self.assertLessEqual(needed, {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"})
        self.assertNotIn("RPATH", dynamic)
        self.assertNotIn("RUNPATH", dynamic)
        for path in (LIBRARY, BUILD / "rondo"):
            self.assertLessEqual(newest_libc(path), OLDEST_LIBC, path)


class Tree(unittest.TestCase):
    """Installed into one folder and used from another."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="rondo-install-"))
        run(CMAKE, "--install", BUILD, "--prefix", cls.folder / "first")
        cls.prefix = cls.folder / "moved to" / "rondo"
        cls.prefix.parent.mkdir()
        (cls.folder / "first").rename(cls.prefix)
        cls.lib = next(cls.prefix.glob("lib*"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_no_file_names_the_folder_of_the_build_or_of_the_installation(self):
        for path in self.prefix.rglob("*"):
            if path.is_file() and path.suffix in {".cmake", ".pc", ".h", ".hpp", ".1"}:
                text = path.read_text()
                self.assertNotIn(str(self.folder), text, path)
                self.assertNotIn(str(ROOT), text, path)

    @unittest.skipUnless((BUILD / "librondo_llvm.so").exists(), "built without LLVM")
    def test_llvm_is_found_where_it_was_installed(self):
        library = self.prefix / "lib/rondo/librondo_llvm.so"
        self.assertTrue(library.exists())
        doctor = subprocess.run([self.prefix / "bin/rondo", "doctor"], capture_output=True, text=True).stdout
        self.assertRegex(doctor, r"ok +LLVM: ")
        named = next(line for line in doctor.splitlines() if "LLVM: " in line).partition("(")[2].partition(")")[0]
        self.assertEqual(pathlib.Path(named).resolve(), library.resolve())
        ran = run(self.prefix / "bin/rondo", "bench", "mingru", "--arch", "cpu", "--shape", "B=1,T=4,D=16", "--no-db", "--samples", "1")
        self.assertIn("host", ran)

    def test_the_examples_build_and_run(self):
        build = self.folder / "examples"
        source = self.prefix / "share/rondo/examples/c_api"
        environment = {**os.environ, "CFLAGS": "-Wall -Wextra -Werror", "CXXFLAGS": "-Wall -Wextra -Werror"}
        run(CMAKE, "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", env=environment)
        run(CMAKE, "--build", build, "--parallel", "2")
        self.assertIn("gradient of R[7]", run(build / "lstm_layer"))
        for program in ("own_cell", "own_cell_static"):
            text = run(build / program)
            self.assertIn("bad.cell:1:6: error: cell 'bad' has no state", text)
            self.assertIn("damped: steps and the sequence differ by", text)
        self.assertNotIn("librondo", run("readelf", "-d", build / "own_cell_static"))
        package = self.folder / "kernels.rondo"
        without_gpu = {**os.environ, "RONDO_LIBCUDA": "none", "RONDO_SHIPPED": "none"}
        run(self.prefix / "bin/rondo", "package", "build", "mingru", "--dtype", "bf16", "--pass", "fw", "--shape", "B=2,T=64,D=64",
            "--arch", "sm_90", "--ptx", "none", "--no-self-test", "--no-db", "-o", package, env=without_gpu)
        listed = subprocess.run([build / "packaged", package], capture_output=True, text=True, env=without_gpu)
        self.assertEqual(listed.returncode, 77, listed.stderr)
        self.assertIn("mingru fw bf16 B=2 T=64 D=64 for sm_90: stream", listed.stdout)
        self.assertIn("there is no GPU to launch on", listed.stdout)
        self.assertNotIn("librondo.so", run("readelf", "-d", build / "packaged"))
        if (build / "graph_capture").exists():  # it needs the headers of CUDA
            done = subprocess.run([build / "graph_capture"], capture_output=True, text=True, env=without_gpu)
            self.assertEqual(done.returncode, 77, done.stderr)
            fake = {**os.environ, "RONDO_LIBCUDA": str(BUILD / "libfake_cuda.so")}  # computes nothing, and captures
            self.assertIn("captured and replayed 3 times", run(build / "graph_capture", env=fake))

    def test_the_service_builds_with_its_kernels_inside(self):
        build = self.folder / "service"
        source = self.prefix / "share/rondo/examples/service"
        environment = {**os.environ, "CFLAGS": "-Wall -Wextra -Werror", "RONDO_LIBCUDA": "none"}
        run(CMAKE, "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DRONDO_ARCH=sm_90",
            env=environment)
        run(CMAKE, "--build", build, "--parallel", "2", env=environment)
        for program in ("service", "service_static"):
            needed = run("readelf", "-d", build / program)
            self.assertEqual("librondo_rt.so.0" in needed, program == "service")
            self.assertNotIn("stdc++", needed)
            done = subprocess.run([build / program], input="quit\n", capture_output=True, text=True)
            self.assertIn(done.returncode, (0, 77), done.stderr)

    def configured(self, *lines, languages="C", generator=None):
        """What CMake says of a project with these lines, and its build folder; nothing where it refuses them."""
        source = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (source / "CMakeLists.txt").write_text("\n".join(["cmake_minimum_required(VERSION 3.16)", f"project(user LANGUAGES {languages})", *lines]))
        (source / "mine.cell").write_text((ROOT / "cells/mingru.cell").read_text())
        (source / "main.c").write_text("#include <rondo/package.h>\n#include <stdio.h>\nextern const void* const mine_data;\n"
                                       "extern const size_t mine_size;\nint main(void) {\n  rondo_package* package = NULL;\n"
                                       "  const rondo_status status = rondo_package_from_memory(mine_data, mine_size, &package);\n"
                                       "  return puts(status == RONDO_OK ? \"opened\" : rondo_message()) < 0;\n}\n")
        done = subprocess.run([CMAKE, "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                               *(["-G", generator] if generator else [])], capture_output=True, text=True)
        return " ".join((done.stdout + done.stderr).split()), source if done.returncode == 0 else None

    def test_a_project_compiles_kernels_of_its_own_cell_into_its_program(self):
        said, source = self.configured(
            "find_package(Rondo 0.1 REQUIRED COMPONENTS rondo_rt_static)",
            "rondo_add_package(mine CELLS mine.cell SHAPES B=2,T=64,D=64 DTYPES bf16 fp32 ARCHS sm_90 OPTIONS --ptx none --no-self-test --no-db)",
            "add_executable(program main.c)", "target_link_libraries(program PRIVATE mine Rondo::rondo_rt_static)")
        self.assertIsNotNone(source, said)
        self.assertIn("Compiling the kernels of mine", run(CMAKE, "--build", source / "build"))
        self.assertEqual(run(source / "build/program"), "opened\n")
        self.assertNotIn("Compiling the kernels", run(CMAKE, "--build", source / "build"))
        (source / "mine.cell").write_text((ROOT / "cells/affine.cell").read_text())
        self.assertIn("Compiling the kernels of mine", run(CMAKE, "--build", source / "build"))

    @unittest.skipUnless(tuple(map(int, re.findall(r"\d+", run(CMAKE, "--version"))[:2])) >= (3, 20), "CMake reads no depfiles")
    def test_a_cell_in_a_list_is_a_dependency(self):
        generators = ["Unix Makefiles"] + (["Ninja"] if shutil.which("ninja") else [])
        for generator in generators:
            said, source = self.configured(
                f"set(ENV{{NINJA_STATUS}} \"\")", "find_package(Rondo 0.1 REQUIRED)",
                "rondo_add_package(mine LIST lists/all.json OPTIONS --ptx none --no-self-test --no-db)",
                "add_executable(program main.c)", "target_link_libraries(program PRIVATE mine Rondo::rondo_rt_static)", generator=generator)
            self.assertIsNotNone(source, said)
            (source / "lists").mkdir()
            (source / "lists/all.json").write_text('{"format": "rondo-package-list", "version": 1, "arch": "sm_90", "problems": '
                                                   '[{"cell": "../mine.cell", "shape": "D=64"}, {"cell": "lstm", "shape": "T=2,D=64"}]}')
            self.assertIn("Compiling the kernels of mine", run(CMAKE, "--build", source / "build"))
            self.assertEqual(run(source / "build/program"), "opened\n")
            self.assertNotIn("Compiling the kernels", run(CMAKE, "--build", source / "build"))
            (source / "mine.cell").write_text((ROOT / "cells/affine.cell").read_text())
            self.assertIn("Compiling the kernels of mine", run(CMAKE, "--build", source / "build"), generator)

    def test_a_cell_may_come_from_another_rule(self):
        said, source = self.configured(
            "find_package(Rondo 0.1 REQUIRED)",
            "add_custom_command(OUTPUT made.cell COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/mine.cell made.cell DEPENDS mine.cell)",
            "rondo_add_package(mine CELLS ${CMAKE_BINARY_DIR}/made.cell SHAPES D=64 ARCHS sm_90 OPTIONS --ptx none --no-self-test --no-db)",
            "add_executable(program main.c)", "target_link_libraries(program PRIVATE mine Rondo::rondo_rt_static)")
        self.assertIsNotNone(source, said)
        run(CMAKE, "--build", source / "build")
        self.assertEqual(run(source / "build/program"), "opened\n")

    def test_what_a_project_gets_wrong_is_said(self):
        for line, words in (("find_package(Rondo 0.1 REQUIRED COMPONENTS rt)", "there is no component 'rt'; there are rondo, rondo_static"),
                            ("find_package(Rondo 0.1 REQUIRED)\nrondo_add_package(mine CELL mine.cell)", "what are 'CELL;mine.cell'?"),
                            ("find_package(Rondo 0.1 REQUIRED)\nrondo_add_package(mine SHAPES D=64)", "name CELLS, or a LIST"),
                            ("find_package(Rondo 0.1 REQUIRED)\nrondo_add_package(v1.2 CELLS lstm)", "letters, digits and '_'"),
                            ("set(Rondo_COMMAND /no/rondo)\nfind_package(Rondo 0.1 REQUIRED)\nrondo_add_package(mine CELLS lstm)",
                             "there is no command '/no/rondo'")):
            said, source = self.configured(line)
            self.assertIsNone(source, line)
            self.assertIn(words, said)
        said, source = self.configured("find_package(Rondo 0.1 REQUIRED)", "rondo_add_package(mine CELLS lstm)", languages="CXX")
        self.assertIsNone(source)
        self.assertIn("project(... LANGUAGES C CXX)", said)

    def test_pkg_config_finds_it(self):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.lib / "pkgconfig")}
        (self.folder / "one.c").write_text("#include <rondo/rondo.h>\n#include <stdio.h>\n"
                                           "int main(void) { return puts(rondo_version()) < 0; }\n")
        flags = run("pkg-config", "--cflags", "--libs", "rondo", env=environment).strip()
        self.assertIn("moved", flags)
        program = self.folder / "one"
        run("cc", "-std=c11", self.folder / "one.c", "-o", program, *shlex.split(flags))
        version = run(program, env={**os.environ, "LD_LIBRARY_PATH": str(self.lib)}).strip()
        self.assertEqual(version, run("pkg-config", "--modversion", "rondo", env=environment).strip())

    def test_command_man_page_and_completion(self):
        command = self.prefix / "bin/rondo"
        help_text = run(command, "--help")
        commands = re.findall(r"^  ([a-z]+) ", help_text.split("Subcommands:")[1], re.M)
        self.assertIn("tune", commands)
        page = (self.prefix / "share/man/man1/rondo.1").read_text()
        for name in commands:
            self.assertIn(f".SH {name.upper()}\n", page)
        self.assertIn("\\-\\-budget", page)
        sections = dict(re.findall(r"^\.SH (.*)\n((?:(?!\.SH ).*\n)*)", page, re.M))
        for path, option in (("PACKAGE BUILD", "embed"), ("PACKAGE MERGE", "embed"), ("DB EXPORT", "best"), ("DB PRUNE", "before")):
            self.assertIn(f"\\-\\-{option}", sections[path], path)
        for name in ("package", "db"):
            for action in re.findall(r"^  ([a-z]+) ", run(command, name, "--help").split("Subcommands:")[1], re.M):
                self.assertIn(f"{name} {action}".upper(), sections)
        script = (f'source "{self.prefix}/share/bash-completion/completions/rondo"; '
                  'complete_it() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _rondo; echo "${COMPREPLY[@]}"; }; '
                  'complete_it "$0" ""; complete_it "$0" tune lstm --bud; complete_it "$0" d; '
                  'complete_it "$0" package build lstm list --em; complete_it "$0" db export --be; complete_it "$0" db ex; '
                  'complete_it "$0" db nosuch --be')
        first, second, third, *nested = run("bash", "-c", script, command).splitlines()
        for name in commands:
            self.assertIn(name, first.split())
        self.assertEqual(second, "--budget")
        self.assertEqual(third.split(), ["data", "db", "doctor"])
        self.assertEqual(nested, ["--embed", "--best", "export", ""])
        for topic in ("EXAMPLES", "ENVIRONMENT", "FILES", "EXIT STATUS"):
            self.assertIn(topic, sections)
        self.assertIn("RONDO_DB", sections["ENVIRONMENT"])
        self.assertIn("tuning.db", sections["FILES"])
        self.assertIn("rondo tune lstm", sections["EXAMPLES"])
        for shell, file in (("bash", "bash-completion/completions/rondo"), ("zsh", "zsh/site-functions/_rondo"),
                            ("fish", "fish/vendor_completions.d/rondo.fish")):
            self.assertEqual((self.prefix / "share" / file).read_text(), run(command, "completion", shell))

    def test_cells_are_there(self):
        cells = sorted(path.name for path in (ROOT / "cells").glob("*.cell"))
        self.assertEqual(sorted(path.name for path in (self.prefix / "share/rondo/cells").iterdir()), cells)


class Packages(unittest.TestCase):
    FILES = ("bin/rondo", "librondo.so.0", "librondo.a", "librondo_rt.so.0", "librondo_rt.a", "include/rondo/rondo.h",
             "include/rondo/package.h", "docs/c-api.md", "cells/lstm.cell", "shipped/h200.json", "man1/rondo.1", "completions/rondo",
             "site-functions/_rondo", "vendor_completions.d/rondo.fish",
             "pkgconfig/rondo.pc", "pkgconfig/rondo_rt.pc", "RondoConfig.cmake")

    def check_files(self, names):
        for file in self.FILES:
            self.assertTrue(any(name.endswith(f"/{file}") for name in names), f"{file} is not among {names}")

    def test_deb_and_tarball(self):
        with tempfile.TemporaryDirectory(prefix="rondo-pack-") as folder:
            folder = pathlib.Path(folder)
            cpack = shutil.which("cpack")
            generators = "DEB;TGZ" if shutil.which("dpkg-deb") else "TGZ"
            run(cpack, "-G", generators, "--config", BUILD / "CPackConfig.cmake", "-B", folder, cwd=folder)
            archive = next(folder.glob("*.tar.gz"))
            self.check_files(run("tar", "-tzf", archive).splitlines())
            if shutil.which("dpkg-deb"):
                package = next(folder.glob("*.deb"))
                self.assertIn("libc6 (>= %d.%d)" % OLDEST_LIBC, run("dpkg-deb", "-f", package, "Depends"))
                run("dpkg-deb", "-x", package, folder / "root")
                self.check_files([str(path) for path in (folder / "root").rglob("*")])
                run(folder / "root/usr/bin/rondo", "--version")
                library = next((folder / "root/usr").rglob("librondo.so.0"))
                # Debian 12 has glibc 2.36, and what is linked there runs with older ones too (tools/package/older_*.c).
                binaries = [path for path in (folder / "root").rglob("*") if path.is_file() and not path.is_symlink() and
                            path.read_bytes()[:4] == b"\x7fELF" and path.suffix != ".a"]
                self.assertGreaterEqual(len(binaries), 3, binaries)
                for path in binaries:
                    self.assertLessEqual(newest_libc(path), OLDEST_LIBC, path)
                    self.assertNotIn("GLIBCXX", run("objdump", "-T", path), path)
                self.assertLess(library.resolve().stat().st_size, 10 << 20)  # stripped


if __name__ == "__main__":
    unittest.main()
