#!/usr/bin/env python3
"""librondo_rt is small and needs nothing: size, libraries, symbols, and a C program linked with the static one.

usage: runtime_library_test.py SHARED STATIC FAKE_CUDA SOURCE_FOLDER C_COMPILER
"""
import os
import re
import subprocess
import sys
import tempfile

MOST_BYTES = 500_000
LIBRARIES = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
NEWEST_GLIBC = (2, 34)  # of Ubuntu 22.04 and RHEL 9

PROGRAM = r"""
#include <rondo/package.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char** argv) {
  rondo_package* package = NULL;
  rondo_context_options options = {.struct_size = sizeof options, .device = RONDO_DEVICE_CUDA};
  rondo_context* context = NULL;
  /* An exception that is thrown and caught inside, and the driver opened. */
  if (rondo_package_open(argc > 1 ? argv[1] : "", &package) != RONDO_ERROR_MISSING) return 1;
  if (strstr(rondo_message(), "cannot open the package") == NULL) return 2;
  if (rondo_context_create(&options, &context) != RONDO_OK) return puts(rondo_message()), 3;
  return rondo_context_destroy(context) == RONDO_OK ? 0 : 4;
}
"""

failures = []


def check(holds, what):
    if not holds:
        failures.append(what)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check_shared(shared, folder, listed):
    stripped = os.path.join(folder, "stripped.so")
    output("strip", "-o", stripped, shared)
    size = os.path.getsize(stripped)
    print(f"{size} bytes stripped")
    check(size <= MOST_BYTES, f"librondo_rt.so has {size} bytes stripped, more than {MOST_BYTES}")
    dynamic = output("readelf", "-d", shared)
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
    check(needed <= LIBRARIES, f"it needs {sorted(needed - LIBRARIES)}")
    check("[librondo_rt.so.0]" in dynamic, "its SONAME is not librondo_rt.so.0")
    exported = {line.split()[2].split("@")[0] for line in output("nm", "-D", "--defined-only", shared).splitlines()}
    exported.discard("RONDO_0")  # the version itself
    check(exported == listed, f"it exports {sorted(exported ^ listed)} other than runtime/capi/rt_symbols.txt lists")
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", output("nm", "-D", "--undefined-only", shared))
    newest = max((int(a), int(b)) for a, b in versions)
    print("newest GLIBC:", newest)
    check(newest <= NEWEST_GLIBC, f"it needs GLIBC {newest}")
    undefined = output("nm", "-D", "--undefined-only", shared)
    for symbol in ("nvrtc", "sqlite", " cu", "_ZSt", "_ZNSt"):
        check(symbol not in undefined, f"it needs symbols like '{symbol}'")


def check_static(static, folder, listed, source, compiler, fake):
    globals_ = {parts[-1] for parts in map(str.split, output("nm", "-g", "--defined-only", static).splitlines())
                if len(parts) == 3 and parts[1] in "TDBR"}
    check(globals_ == listed, f"librondo_rt.a shows {sorted(globals_ ^ listed)} other than listed")
    program = os.path.join(folder, "program")
    with open(program + ".c", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    output(compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(source, "include"), program + ".c",
           static, "-o", program, "-ldl", "-lpthread")
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", program)))
    check(needed <= LIBRARIES, f"a program with librondo_rt.a needs {sorted(needed - LIBRARIES)}")
    result = subprocess.run([program, "/nonexistent"], env={**os.environ, "RONDO_LIBCUDA": fake}, check=False)
    check(result.returncode == 0, f"a program with librondo_rt.a ends with {result.returncode}")


# A program with a C++ runtime of its own, statically linked: the library's must not be in its way.
CPP_PROGRAM = r"""
#include <rondo/package.hpp>
#include <stdexcept>
#include <string>
int main() {
  const auto package = rondo::api::Package::open("/nonexistent");
  if (package || package.error().message.find("cannot open") == std::string::npos) return 1;
  try {
    (void)package.value();
  } catch (const std::runtime_error& error) {
    return std::string(error.what()).empty() ? 2 : 0;
  }
  return 3;
}
"""


def check_static_in_cpp(static, folder, source, compiler):
    program = os.path.join(folder, "cpp_program")
    with open(program + ".cpp", "w", encoding="utf-8") as file:
        file.write(CPP_PROGRAM)
    for runtime in (["-lstdc++"], ["-static-libgcc", "-Wl,-Bstatic", "-lstdc++", "-Wl,-Bdynamic"]):
        built = subprocess.run([compiler, "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I",
                                os.path.join(source, "include"), program + ".cpp", "-x", "none", static, "-o", program,
                                *runtime, "-lm", "-ldl", "-lpthread"], capture_output=True, text=True, check=False)
        check(built.returncode == 0, f"a C++ program with {runtime} does not link: {built.stderr[:600]}")
        if built.returncode == 0:
            status = subprocess.run([program], check=False).returncode
            check(status == 0, f"a C++ program with {runtime} ends with {status}")


def check_static_beside_cpp_library(static, folder, source, compiler):
    """A program in C that links librondo_rt.a and a shared library in C++."""
    library, program = os.path.join(folder, "libother.so"), os.path.join(folder, "program")
    with open(os.path.join(folder, "other.cpp"), "w", encoding="utf-8") as file:
        file.write('#include <string>\nextern "C" int length_of(const char* text) { return int(std::string(text).size()); }\n')
    with open(os.path.join(folder, "beside.c"), "w", encoding="utf-8") as file:
        file.write('#include <rondo/package.h>\nint length_of(const char*);\nint main(void) { rondo_package* package = 0;\n'
                   'return rondo_package_open("/nonexistent", &package) == RONDO_OK || length_of("four") != 4; }\n')
    output(compiler, "-x", "c++", "-shared", "-fPIC", os.path.join(folder, "other.cpp"), "-x", "none", "-o", library, "-lstdc++")
    for order in ([static, library], [library, static]):
        built = subprocess.run([compiler, "-std=c11", "-I", os.path.join(source, "include"), os.path.join(folder, "beside.c"), *order,
                                "-o", program, "-ldl", "-lpthread"], capture_output=True, text=True, check=False)
        check(built.returncode == 0, f"a C program beside a C++ library does not link: {built.stderr[:600]}")
        if built.returncode == 0:
            status = subprocess.run([program], check=False).returncode
            check(status == 0, f"a C program beside a C++ library ends with {status}")


def main():
    shared, static, fake, source, compiler = sys.argv[1:]
    with open(os.path.join(source, "runtime/capi/rt_symbols.txt"), encoding="utf-8") as file:
        listed = {line.strip() for line in file if not line.startswith("#")}
    declared = set()
    for header in ("launch.h", "package.h"):
        with open(os.path.join(source, "include/rondo", header), encoding="utf-8") as file:
            declared |= set(re.findall(r"RONDO_API [^(;]*?(rondo_\w+)\(", file.read()))
    check(declared == listed, f"declared and listed differ: {sorted(declared ^ listed)}")
    with tempfile.TemporaryDirectory() as folder:
        check_shared(shared, folder, listed)
        check_static(static, folder, listed, source, compiler, fake)
        check_static_in_cpp(static, folder, source, compiler)
        check_static_beside_cpp_library(static, folder, source, compiler)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
