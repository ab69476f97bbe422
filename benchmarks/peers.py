#!/usr/bin/env python3
"""Times the recurrent layers of PyTorch (cuDNN, fp16) on the dense rows that they can compute. Needs a GPU and PyTorch.

usage: peers.py DENSE_ROWS.json [--only REGEX]

Prints JSON: for each row of one head whose cell is a layer of torch.nn, the median milliseconds of inference forward (`fw`)
and of a training step (`fwbw`: forward, loss = sum, backward), the products with the input weights included, since the layer
cannot leave them out; and the bytes a second of a device copy in the same process.
"""
import argparse
import json
import re

import torch

from torch_times import median_ms

LAYERS = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "elman": torch.nn.RNN}


def copy_bytes_per_s(size=1 << 30):
    """Read and written bytes a second of a device copy."""
    source = torch.empty(size, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * size / median_ms(lambda: target.copy_(source)) * 1e3


def measure(row):
    layer = LAYERS[row["cell"]](row["D"], row["D"]).cuda().half()
    x = torch.randn(row["T"], row["B"], row["D"], device="cuda", dtype=torch.float16, requires_grad=True)

    def forward():
        with torch.no_grad():
            layer(x)

    def step():
        layer.zero_grad(set_to_none=True)
        x.grad = None
        layer(x)[0].sum().backward()

    shape = {axis: row[axis] for axis in ("B", "T", "H", "D")}
    return {"cell": row["cell"], "shape": shape, "dtype": "fp16", "fw_ms": median_ms(forward), "fwbw_ms": median_ms(step)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows")
    parser.add_argument("--only", default="", help="rows whose cell matches this regular expression")
    options = parser.parse_args()
    with open(options.rows, encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    torch.manual_seed(1)
    wanted = [row for row in rows if row["cell"] in LAYERS and row["H"] == 1 and re.search(options.only, row["cell"])]
    print(json.dumps({"torch": torch.__version__, "cudnn": torch.backends.cudnn.version(),
                      "copy_bytes_per_s": copy_bytes_per_s(), "rows": [measure(row) for row in wanted]}))


if __name__ == "__main__":
    main()
