"""Rondo's C interface from Python, as far as benchmarks need it: forward plans, and launches on host or device memory."""
import ctypes as c

CUDA, CPU = 0, 2
F32 = 0
CHOOSE_DEFAULT, CHOOSE_TUNE = 0, 3
MOST_AXES = 6


class ContextOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("device", c.c_int32), ("ordinal", c.c_int32), ("log", c.c_void_p),
                ("log_user", c.c_void_p)]


class CellOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("text", c.c_char_p), ("text_bytes", c.c_size_t), ("path", c.c_char_p),
                ("name", c.c_char_p), ("clip_forward", c.c_double), ("clip_gradient", c.c_double)]


class Problem(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("batch", c.c_int64), ("time", c.c_int64), ("heads", c.c_int64),
                ("dim", c.c_int64), ("type", c.c_int32), ("math", c.c_int32), ("pass_", c.c_int32), ("save", c.c_int32),
                ("constants", c.c_void_p), ("constant_count", c.c_size_t)]


class PlanOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("choose", c.c_int32), ("strict", c.c_int32), ("database", c.c_void_p),
                ("alignment", c.c_int32), ("workers", c.c_int32), ("budget_s", c.c_double), ("progress", c.c_void_p),
                ("progress_user", c.c_void_p), ("strategy", c.c_char_p), ("parameters", c.c_char_p)]


class PlanInfo(c.Structure):
    _fields_ = [("struct_size", c.c_size_t),
                *((name, c.c_char_p) for name in ("cell", "cell_hash", "pass_", "type", "math", "strategy", "parameters", "origin",
                                                  "note", "producer")),
                ("batch", c.c_int64), ("time", c.c_int64), ("heads", c.c_int64), ("dim", c.c_int64), ("tensors", c.c_int32),
                ("verified", c.c_int32), ("expected_ms", c.c_double)]


class Tensor(c.Structure):
    _fields_ = [("index", c.c_int32), ("type", c.c_int32), ("data", c.c_void_p), ("bytes", c.c_int64), ("rank", c.c_int32),
                ("reserved", c.c_int32), ("extents", c.c_int64 * MOST_AXES), ("strides", c.c_int64 * MOST_AXES)]


class LaunchArgs(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("tensor_size", c.c_size_t), ("tensors", c.POINTER(Tensor)),
                ("tensor_count", c.c_size_t), ("workspace", c.c_void_p), ("workspace_bytes", c.c_int64),
                ("batch", c.c_int64), ("time", c.c_int64), ("stream", c.c_void_p)]


class Failed(Exception):
    """What a call of the library said."""


def sized(kind, **values):
    """A struct of the interface, with its size in its first field."""
    return kind(struct_size=c.sizeof(kind), **values)


class Library:
    """librondo at a path. Every call that fails raises Failed with message and hint."""

    def __init__(self, path):
        self.calls = c.CDLL(path)
        self.calls.rondo_message.restype = self.calls.rondo_hint.restype = c.c_char_p

    def call(self, name, *arguments):
        if getattr(self.calls, name)(*arguments) != 0:
            raise Failed(f"{name}: {self.calls.rondo_message().decode()} ({self.calls.rondo_hint().decode()})")

    def context(self, device):
        handle = c.c_void_p()
        self.call("rondo_context_create", c.byref(sized(ContextOptions, device=device)), c.byref(handle))
        return handle

    def cell(self, path):
        handle = c.c_void_p()
        self.call("rondo_cell_create", c.byref(sized(CellOptions, path=path.encode())), c.byref(handle), None)
        return handle


class Forward:
    """The forward plan of a cell, fp32, one head. `strategy`: None for any."""

    def __init__(self, library, context, cell, batch, time, dim, strategy=None, choose=CHOOSE_DEFAULT, budget_s=0):
        self.library, self.batch, self.time = library, batch, time
        problem = sized(Problem, batch=batch, time=time, heads=1, dim=dim, type=F32)
        options = sized(PlanOptions, strategy=strategy.encode() if strategy else None, choose=choose, budget_s=budget_s)
        self.plan = c.c_void_p()
        library.call("rondo_plan_create", context, cell, c.byref(problem), c.byref(options), c.byref(self.plan))

    def info(self):
        """Strings of it belong to the plan."""
        found = sized(PlanInfo)
        self.library.call("rondo_plan_get_info", self.plan, c.byref(found))
        return found

    def workspace_bytes(self):
        count = c.c_int64()
        self.library.call("rondo_plan_workspace_bytes", self.plan, c.c_int64(self.batch), c.c_int64(self.time),
                          c.byref(count))
        return count.value

    def arguments(self, addresses, workspace=None, workspace_bytes=0, stream=None):
        """Arguments of a launch on dense tensors, by name: {"x": address, ...}."""
        tensors = (Tensor * len(addresses))()
        for place, (name, address) in enumerate(addresses.items()):
            index = c.c_int32()
            self.library.call("rondo_plan_find_tensor", self.plan, name.encode(), c.byref(index))
            size = c.c_int64()
            self.library.call("rondo_plan_tensor_bytes", self.plan, index, c.c_int64(self.batch), c.c_int64(self.time),
                              c.byref(size))
            tensors[place] = Tensor(index=index, type=F32, data=address, bytes=size.value)
        return sized(LaunchArgs, tensor_size=c.sizeof(Tensor), tensors=tensors, tensor_count=len(addresses),
                     workspace=workspace, workspace_bytes=workspace_bytes, batch=self.batch, time=self.time, stream=stream)

    def launch(self, arguments):
        self.library.call("rondo_launch", self.plan, c.byref(arguments))
