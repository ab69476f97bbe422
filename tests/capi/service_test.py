#!/usr/bin/env python3
"""The service of examples/service: built with the static runtime library and an embedded package, and asked for
sequences and steps. The driver is a stand-in that computes nothing, so what is seen here is that every request is
answered, that bad ones are refused, and which code each GPU loads.

usage: service_test.py RONDO STATIC_LIBRARY FAKE_CUDA SOURCE_FOLDER C_COMPILER
"""
import os
import re
import subprocess
import sys
import tempfile

REQUESTS = """sequence 4 16 1
steps 4 16 1
check 2 5 3
load 1 7
sequence 0 16 1
sequence 4 100000 1
nonsense
quit
"""


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def built(folder, rondo, library, source, compiler):
    kernels, program = os.path.join(folder, "lstm_kernels.c"), os.path.join(folder, "service")
    package = run(rondo, "package", "build", "lstm", "--dtype", "fp32", "--pass", "fw", "--shape", "B=1,T=1,D=32",
                  "--shape", "B=16,T=256,D=32", "--arch", "sm_90", "--no-self-test", "--no-db", "--embed", kernels)
    assert package.returncode == 0, package.stderr
    compiled = run(compiler, "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(source, "include"),
                   os.path.join(source, "examples/service/service.c"), kernels, library, "-o", program, "-ldl", "-lm",
                   "-lpthread")
    assert compiled.returncode == 0, compiled.stderr
    return program


def served(program, environment):
    done = run(program, input=REQUESTS, env={**os.environ, **environment}, timeout=60)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout.splitlines(), done.stderr


def soak(program, fake):
    """Two seconds without a leak, and with one on either side; a driver that leaks stands for a service that does."""
    for leak, status in ((None, 0), ("host", 1), ("device", 1)):
        environment = {**os.environ, "RONDO_LIBCUDA": fake} | ({"RONDO_FAKE_LEAK": leak} if leak else {})
        done = run(program, "--minutes", "0.03", env=environment, timeout=60)
        assert done.returncode == status, (leak, done.returncode, done.stdout, done.stderr)
        line = re.fullmatch(r"(ok|error:) load \d+ requests in 2 s: p50 \S+ ms, p99 \S+ ms, host memory( \d+){5} KB, "
                            r"free device memory( \d+){5} bytes(: GROWN)?\n", done.stdout)
        assert line and (line.group(1) == "ok") == (leak is None), done.stdout
    for wrong in (["--minutes"], ["--minutes", "0"], ["--hours", "1"]):
        assert run(program, *wrong).returncode == 2, wrong


def main():
    rondo, library, fake, source, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        program = built(folder, rondo, library, source, compiler)
        for capability, code in (("90", "cubin for sm_90"), ("120", "ptx for sm_80")):
            answers, log = served(program, {"RONDO_LIBCUDA": fake, "RONDO_FAKE_CAPABILITY": capability})
            assert log.count(code) == 2, log
            begins = ["ok sequence B=4 T=16", "ok steps B=4 T=16", "ok check B=2 T=5", "ok load ", "error", "error",
                      "error"]
            assert len(answers) == len(begins), answers
            for answer, begin in zip(answers, begins):
                assert answer.startswith(begin), (answer, begin)
            free = re.search(r"free device memory((?: \d+){5}) bytes$", answers[3])
            assert free and len(set(free.group(1).split())) == 1, answers[3]
        soak(program, fake)
        old = run(program, input=REQUESTS, env={**os.environ, "RONDO_LIBCUDA": fake, "RONDO_FAKE_CAPABILITY": "75"})
        assert old.returncode == 1 and "holds no code of lstm" in old.stderr, old.stderr
        none = run(program, input=REQUESTS, env={**os.environ, "RONDO_LIBCUDA": "/nonexistent"})
        assert none.returncode == 77, (none.returncode, none.stderr)


if __name__ == "__main__":
    main()
