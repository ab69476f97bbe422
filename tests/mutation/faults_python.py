"""Faults in the package rondo and in its shim for PyTorch."""
from cases import fault

C, T, N = "python/shim/", "python/rondo/_torch/", "python/rondo/nn/"
LAYERS, CHUNKS = "python test_shim_layers or test_shim", "python test_chunks"

FAULTS = [
    fault("shim: the last of the last states keeps its type", C + "layer.cpp",
          "static_cast<std::size_t>(form / Forward::kStateUnit)",
          "static_cast<std::size_t>(form / Forward::kStateUnit) - 1", test=LAYERS),
    fault("shim: the product of a layer is looked for with other strides", C + "layer.cpp",
          "{u.sizes[1] * width, width, 1}", "{u.sizes[2] * width, width, 1}", test=LAYERS),
    fault("shim: the bias that was converted is not what the launch reads", C + "layer.cpp",
          "if (owns_bias && (own_bias.get() == nullptr || !address(own_bias.get(), of_site[2]))) return false;", "",
          test=LAYERS),
    fault("shim: the second bias has no gradient of its own", C + "layer.cpp",
          "from.get() != nullptr && aoti_torch_copy_(other, from.get(), 0) == AOTI_TORCH_SUCCESS",
          "from.get() != nullptr", test=LAYERS),
    fault("shim: the product of the backward pass begins at another row", C + "layer.cpp",
          "const std::int64_t width = input.sizes[2], row = input.sizes[1] * width;",
          "const std::int64_t width = input.sizes[2], row = input.sizes[0] * width;", test=LAYERS),
    fault("shim: what a plan alone wants is a result", C + "launch.cpp",
          "one.is_result != 0 ? made : others", "true ? made : others", test=LAYERS),
    fault("sites: a call that was forgotten is told again", T + "sites.py",
          "if not call.forgotten:", "if True:", test="python test_shim"),
    fault("layers: gradients of other tensors are one family", N + "_whole.py",
          'operators.family_of("layer", *of.what)', 'operators.family_of("layer", *of.what[:3])', test=LAYERS),
    fault("layers: a backward pass has one form for all gradients that come", N + "_whole.py",
          "operators.mask_of(grads),", "1,", test=LAYERS),
    fault("cells: a call that the shim knows has one order of axes", T + "as_given.py",
          'family_of("cell", how, mask, batch_first)', 'family_of("cell", how, mask)', test="python test_shim"),
    fault("chunks: a row's length counts from the first chunk in each", N + "_chunks.py",
          "(lengths - begins[number]).clamp(", "lengths.clamp(", test=CHUNKS),
    fault("chunks: the first chunk's resets are those of all", N + "_chunks.py",
          "state, left, flags[number]", "state, left, flags[0]", test=CHUNKS),
    fault("chunks: states are rounded between them", N + "_layers.py",
          "len(self._names) == 1 and self.chunk is None", "len(self._names) == 1", test=CHUNKS),
    fault("chunks: the other direction begins with the first", N + "_layers.py",
          "axis=axis, reverse=back)", "axis=axis, reverse=False)", test=CHUNKS),
    fault("layers: both directions of a layer walk forward", N + "_layers.py",
          'start, both, "directions", lengths', 'start, both, "forward", lengths', test="python test_parity"),
    fault("vmap: mapped parameters are halves of the heads", T + "vmap.py",
          'behind = 1 if axis == "H" else 0', "behind = 0", test="python test_func"),
]
