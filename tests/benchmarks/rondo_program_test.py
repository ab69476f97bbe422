"""benchmarks/rondo_program.py: GPUs that are handed out to work."""
import json
import os
import pathlib
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import stand_in

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import rondo_program  # noqa: E402 (lies beside the scripts)


def gpus(*words, visible=None):
    given = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    with mock.patch.dict(os.environ, given):
        if visible is None:
            os.environ.pop("CUDA_VISIBLE_DEVICES", None)
        return rondo_program.Gpus(*words)


class Processes(unittest.TestCase):
    def test_they_are_settled_where_those_of_each_way_agree(self):
        self.assertTrue(rondo_program.settled({"bench": [1.0, 1.004], "capi": [2.0]}))
        self.assertFalse(rondo_program.settled({"bench": [1.0, 1.004], "capi": [2.0, 2.011]}))

    def test_the_middle_leaves_out_what_is_far(self):
        self.assertEqual((rondo_program.middle([3, 1, 2]), rondo_program.middle([4, 1, 2, 3, 100, 3, 3, 3])), (2, 3))


class Records(unittest.TestCase):
    def test_several_threads_write_one(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/record.json"
            rondo_program.side_by_side(8, lambda number: rondo_program.write({"rows": [number] * 2000}, path), range(400))
            with open(path, encoding="utf-8") as file:
                self.assertEqual(len(json.load(file)["rows"]), 2000)


class Gpus(unittest.TestCase):
    def test_no_gpu_is_overdrawn_and_all_are_used(self):
        some, held, most, lock = gpus(2, 4), {"0": 0, "1": 0}, {"0": 0, "1": 0}, threading.Lock()

        def work(number):
            with some.take(number) as environment:
                name = environment["CUDA_VISIBLE_DEVICES"]
                with lock:
                    held[name] += number
                    most[name] = max(most[name], held[name])
                time.sleep(0.002)
                with lock:
                    held[name] -= number

        threads = [threading.Thread(target=work, args=(1 + i % 4,)) for i in range(60)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        self.assertEqual((held, some.free), ({"0": 0, "1": 0}, {"0": 4, "1": 4}))
        for name in most:
            self.assertTrue(3 <= most[name] <= 4, most)

    def test_a_failure_gives_back_what_it_had(self):
        some = gpus(1, 2)
        with self.assertRaises(KeyError), some.take(2):
            raise KeyError
        self.assertEqual(some.free, {"0": 2})

    def test_those_that_are_visible_are_taken(self):
        self.assertEqual(gpus(3).names, ["0", "1", "2"])
        self.assertEqual(gpus(2, visible="5,3,1").names, ["5", "3"])
        self.assertEqual(gpus(1, visible="").names, ["0"])
        with self.assertRaisesRegex(SystemExit, "--gpus 2: CUDA_VISIBLE_DEVICES names 1"):
            gpus(2, visible="7")

    def test_several_kinds_are_refused(self):
        folder = stand_in.folder_of(self, "", "")
        stand_in.program(folder, "nvidia-smi", 'import sys\nprint("NVIDIA " + ("A" if sys.argv[2] == "0" else "B") + ", 1.2")')
        with mock.patch.dict(os.environ, stand_in.environment(folder)):
            gpus(1).check_alike()
            with self.assertRaisesRegex(SystemExit, "several kinds: NVIDIA A, NVIDIA B"):
                gpus(2).check_alike()


if __name__ == "__main__":
    unittest.main()
