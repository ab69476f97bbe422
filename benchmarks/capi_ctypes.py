"""Rondo's C interface from Python, as far as benchmarks need it: plans, training, and launches on host or device memory."""
import ctypes as c

CUDA, CPU = 0, 2
F32, BF16, F16, I32 = range(4)
CHOOSE_DEFAULT, CHOOSE_TUNE = 0, 3
FORWARD, FORWARD_SAVE, BACKWARD = range(3)
SAVE_AUTO = 2
MOST_AXES = 6


class ContextOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("device", c.c_int32), ("ordinal", c.c_int32), ("log", c.c_void_p),
                ("log_user", c.c_void_p)]


class DatabaseOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("path", c.c_char_p), ("read_only", c.c_int32), ("reserved", c.c_int32)]


class CellOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("text", c.c_char_p), ("text_bytes", c.c_size_t), ("path", c.c_char_p),
                ("name", c.c_char_p), ("clip_forward", c.c_double), ("clip_gradient", c.c_double), ("resets", c.c_int32),
                ("lengths", c.c_int32), ("reversed", c.c_int32), ("reset_states", c.c_int32)]


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


class TensorInfo(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("name", c.c_char_p), ("shape", c.c_char_p),
                *((name, c.c_int32) for name in ("role", "type", "need", "written", "strided", "alignment", "rank", "reserved")),
                ("extents", c.c_int64 * MOST_AXES)]


class SharedTensor(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("name", c.c_char_p),
                *((name, c.c_int32) for name in ("forward", "backward", "saved", "role"))]


class TrainingInfo(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("save", c.c_int32), ("shared", c.c_int32)]


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

    def database(self, path):
        """A tuning database that is there."""
        handle = c.c_void_p()
        self.call("rondo_database_open", c.byref(sized(DatabaseOptions, path=str(path).encode(), read_only=1)), c.byref(handle))
        return handle

    def cell(self, path, **forms):
        """`forms`: lengths=1, reversed=1 and so on."""
        handle = c.c_void_p()
        self.call("rondo_cell_create", c.byref(sized(CellOptions, path=path.encode(), **forms)), c.byref(handle), None)
        return handle


def problem_of(batch, time, dim, type_, **more):
    return sized(Problem, batch=batch, time=time, heads=1, dim=dim, type=type_, **more)


def choice(strategy, choose, budget_s, database):
    return sized(PlanOptions, strategy=strategy.encode() if strategy else None, choose=choose, budget_s=budget_s, database=database)


class Plan:
    """A plan of the library, for launches of `batch` rows of `time` steps."""

    def __init__(self, library, handle, batch, time):
        self.library, self.plan, self.batch, self.time = library, handle, batch, time

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

    def tensors(self):
        """{name: (type, bytes)} of all tensors of the plan."""
        found = {}
        for index in range(self.info().tensors):
            info = sized(TensorInfo)
            self.library.call("rondo_plan_get_tensor", self.plan, c.c_int32(index), c.byref(info))
            found[info.name.decode()] = (info.type, self.bytes_of(index))
        return found

    def bytes_of(self, index):
        size = c.c_int64()
        self.library.call("rondo_plan_tensor_bytes", self.plan, c.c_int32(index), c.c_int64(self.batch), c.c_int64(self.time),
                          c.byref(size))
        return size.value

    def arguments(self, addresses, workspace=None, workspace_bytes=0, stream=None):
        """Arguments of a launch on dense tensors, by name: {"x": address, ...}."""
        tensors = (Tensor * len(addresses))()
        types = self.tensors()
        for place, (name, address) in enumerate(addresses.items()):
            index = c.c_int32()
            self.library.call("rondo_plan_find_tensor", self.plan, name.encode(), c.byref(index))
            kind, size = types[name]
            tensors[place] = Tensor(index=index, type=kind, data=address, bytes=size)
        return sized(LaunchArgs, tensor_size=c.sizeof(Tensor), tensors=tensors, tensor_count=len(addresses),
                     workspace=workspace, workspace_bytes=workspace_bytes, batch=self.batch, time=self.time, stream=stream)

    def launch(self, arguments):
        self.library.call("rondo_launch", self.plan, c.byref(arguments))


class Forward(Plan):
    """The forward plan of a cell, one head. `strategy`: None for any. Without a database the model chooses, or what is shipped."""

    def __init__(self, library, context, cell, batch, time, dim, strategy=None, choose=CHOOSE_DEFAULT, budget_s=0, database=None,
                 type_=F32):
        super().__init__(library, c.c_void_p(), batch, time)
        library.call("rondo_plan_create", context, cell, c.byref(problem_of(batch, time, dim, type_)),
                     c.byref(choice(strategy, choose, budget_s, database)), c.byref(self.plan))


class Training:
    """A forward pass that saves and the backward pass that reads it, of a cell with one head: `forward` and `backward` are
    plans, `shared` the names in both that must have one memory, {name in backward: name in forward}."""

    def __init__(self, library, context, cell, batch, time, dim, strategy=None, choose=CHOOSE_DEFAULT, budget_s=0, database=None,
                 type_=F32):
        self.library, self.handle = library, c.c_void_p()
        library.call("rondo_training_create", context, cell, c.byref(problem_of(batch, time, dim, type_, save=SAVE_AUTO)),
                     c.byref(choice(strategy, choose, budget_s, database)), c.byref(self.handle))
        self.forward, self.backward = (self.plan_of(which, batch, time) for which in (FORWARD_SAVE, BACKWARD))
        info = sized(TrainingInfo)
        library.call("rondo_training_get_info", self.handle, c.byref(info))
        names = [list(plan.tensors()) for plan in (self.forward, self.backward)]
        self.shared = {}
        for number in range(info.shared):
            tensor = sized(SharedTensor)
            library.call("rondo_training_get_shared", self.handle, c.c_int32(number), c.byref(tensor))
            self.shared[names[1][tensor.backward]] = names[0][tensor.forward]

    def plan_of(self, which, batch, time):
        handle = c.c_void_p()
        self.library.call("rondo_training_get_plan", self.handle, c.c_int32(which), c.byref(handle))
        return Plan(self.library, handle, batch, time)
