"""The structs, numbers and calls of `_structs` against the headers, by a probe that a C compiler makes of them."""

import re
import shutil
import subprocess

from rondo import _structs as s

from conftest import SOURCE

HEADERS = SOURCE / "include" / "rondo"
PREFIXES = ("DEVICE_", "TYPE_", "PASS_", "SAVE_", "MATH_", "CHOOSE_", "NEED_", "KIND_", "TAIL_", "ROLE_", "MOST_AXES")


def probe(tmp_path, lines, header="rondo/rondo.h"):
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "there is no C compiler to compare structs with the headers: run tools/setup"
    source = tmp_path / "probe.c"
    body = "\n".join(lines)
    source.write_text(f"#include <{header}>\n#include <stdio.h>\nint main(void) {{\n{body}\nreturn 0;\n}}\n")
    program = tmp_path / "probe"
    subprocess.run([compiler, f"-I{HEADERS.parent}", source, "-o", program], check=True)
    text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return dict(line.rsplit(" ", 1) for line in text.splitlines())


def fields_of(struct):
    return [name for name, *_ in struct._fields_]


def compare_structs(tmp_path, structs, header):
    lines, wanted = [], {}
    for struct in structs:
        name = struct.__name__
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        wanted[name] = str(__import__("ctypes").sizeof(struct))
        for field in fields_of(struct):
            lines.append(f'printf("{name}.{field} %zu:%zu\\n", offsetof({name}, {field}), sizeof((({name}*)0)->{field}));')
            place = getattr(struct, field)
            wanted[f"{name}.{field}"] = f"{place.offset}:{place.size}"
    assert probe(tmp_path, lines, header) == wanted


def test_structs_are_those_of_the_headers(tmp_path):
    compare_structs(tmp_path, s.STRUCTS, "rondo/rondo.h")


def test_a_struct_without_a_field_is_found(tmp_path):
    """The comparison can fail: a struct that lacks fields has another size."""
    import ctypes

    shorter = type("rondo_cell_info", (ctypes.Structure,), {"_fields_": s.rondo_cell_info._fields_[:-2]})
    found = probe(tmp_path, ['printf("size %zu\\n", sizeof(rondo_cell_info));'])
    assert int(found["size"]) == ctypes.sizeof(s.rondo_cell_info) != ctypes.sizeof(shorter)


def test_numbers_are_those_of_the_headers(tmp_path):
    names = [name for name in vars(s) if name.startswith(PREFIXES) and isinstance(getattr(s, name), int)]
    assert len(names) > 40
    lines = [f'printf("{name} %d\\n", (int)RONDO_{name});' for name in names]
    assert probe(tmp_path, lines) == {name: str(getattr(s, name)) for name in names}


def test_calls_have_as_many_arguments_as_in_the_headers():
    text = re.sub(r"/\*.*?\*/", "", "".join(path.read_text() for path in HEADERS.glob("*.h")), flags=re.S)
    for name, arguments in {**s.CALLS, **s.TEXTS}.items():
        found = re.search(rf"\b{name}\(([^)]*)\)", text)
        assert found, f"{name} is in no header"
        said = [] if found[1].strip() in ("", "void") else found[1].split(",")
        assert len(said) == len(arguments), name


def test_every_status_has_its_error():
    from rondo._errors import BY_STATUS
    from rondo._library import library

    for status in BY_STATUS:
        assert library()._calls.rondo_status_name(status) != b"unknown"
    assert library()._calls.rondo_status_name(max(BY_STATUS) + 1) == b"unknown"
