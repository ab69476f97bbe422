"""Faults in parts of time whose states are made again of outputs."""
from cases import fault

P, K = "engine/plan/part_bindings.cpp", "schedule/rewrite/known_outputs.cpp"
TRAINED = "test_engine TrainedAgain.*:PartsAgain.*"
KNOWN = "test_schedule KnownOutputs.*"
OUTLINED = "capi_outline_test libfake_cuda.so"

FAULTS = [
    fault("parts: the output of a step is given in the place of the one before", P,
          "parts_.part(number).begin + (parts_.reversed ? 1 : -1)", "parts_.part(number).begin", test=TRAINED),
    fault("parts: a reversed walk is given outputs of the step behind", P,
          "(parts_.reversed ? 1 : -1)", "-1", test=TRAINED),
    fault("parts: the first part is made of outputs as well", P,
          "!again_.empty() && number > 0 &&", "!again_.empty() &&", test=TRAINED),
    fault("parts: what is made again begins with the caller's states", P,
          "found = binding(tensor, number, PartLaunch::Again, whole);",
          "found = binding(tensor, tensor.ref.role == Role::InitialState ? 0 : number, PartLaunch::Again, whole);", test=TRAINED),
    fault("parts: nothing is made again", P,
          "std::ranges::none_of(pieces_, is_saved)", "true", test=TRAINED),
    fault("parts: a pass is made that no part needs", "engine/service/training.cpp",
          "training.parts.count() < 3 ||", "training.parts.count() < 2 ||", test="test_engine PartsAgain.*"),
    fault("parts: training in C never makes states again", "tools/librondo/choose.cpp",
          "answer->parts = {problem.sizes.time, way->every,", "answer->parts = {way->every, way->every,", test=OUTLINED),
    fault("parts: training in C makes states again of two parts", "tools/librondo/choose.cpp",
          "answer->parts = {problem.sizes.time, way->every,", "answer->parts = {3 * way->every, way->every,", test=OUTLINED),
    fault("parts: a state counts as known by an output of its shape", K,
          "values_of(cell.outputs, output) == values_of(cell.next, state)", "true", test=KNOWN),
    fault("parts: rows with resets are made of outputs", K,
          "return step::is_flag(tensor.kind);", "return tensor.kind == TensorKind::Length;", test=KNOWN),
    fault("parts: known states are walked again", K,
          "tensor.kind = TensorKind::Input;", "", test=KNOWN),
    fault("parts: an input has the name of its state, whatever its output's is", K,
          "tensor.name = cell.tensor(*output).name;", "", test=KNOWN),
    fault("parts: a pass that is asked for is none where it is no faster", "engine/service/training.cpp",
          "if (request.overrides.empty() && (!outline", "if ((!outline", test="python test_outputs_that_were_changed"),
]
