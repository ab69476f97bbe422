// `rondo run --grad`: gradients of a weighted sum of outputs and last states, beside the reference's own.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cmath>

#include "compiler/step/forms.h"
#include "compiler/step/reference/executor.h"
#include "engine/arrays/npy.h"
#include "engine/request/load_cell.h"
#include "tests/tools/program.h"

namespace rondo::test {
namespace {

using Numbers = std::vector<double>;

// Numbers in [-1/2, 1/2] that differ, as an array of the file holds them.
Numbers written(const std::string& path, const std::vector<std::int64_t>& shape, double phase) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  Numbers values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(
        static_cast<double>(static_cast<float>(0.5 * std::sin(phase + 1.7 * static_cast<double>(i)))));
  write_file(path, engine::to_npy(engine::npy_from(values, shape, kernel::Storage::F32)));
  return values;
}

Numbers read_back(const std::string& path) {
  return engine::npy_values(engine::read_npy(path).value(), kernel::Storage::F32, path).value();
}

void expect_near(const Numbers& found, const Numbers& wanted, const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], wanted[i], 1e-5 * (1 + std::abs(wanted[i]))) << what << " at " << i;
}

// A GRU of B=2, T=5, H=1, D=4, with its weights.
class Gradients : public ::testing::Test {
 protected:
  Gradients() {
    arguments_.inputs["x"] = written(folder_.path("x.npy"), {2, 5, 1, 3, 4}, 0);
    arguments_.params["R"] = written(folder_.path("R.npy"), {1, 3, 4, 4}, 1);
    arguments_.params["b"] = written(folder_.path("b.npy"), {1, 3, 4}, 2);
    arguments_.initial_states["h"] = written(folder_.path("h0.npy"), {2, 1, 4}, 3);
    outputs_ = written(folder_.path("wh.npy"), {2, 5, 1, 4}, 4);
    last_ = written(folder_.path("wlast.npy"), {2, 1, 4}, 5);
  }

  std::vector<std::string> words(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"run", "gru", "--no-db"};
    for (const char* given : {"x=x", "h=h0", "R=R", "b=b"}) {
      const std::string text = given, name = text.substr(0, text.find('=')),
                        file = text.substr(text.find('=') + 1);
      all.insert(all.end(), {name == "x"   ? "--input"
                             : name == "h" ? "--state"
                                           : "--param-file",
                             name + "=" + folder_.path(file + ".npy")});
    }
    for (const char* name : {"x", "h", "R", "b"})
      all.insert(all.end(), {"--grad", std::string(name) + "=" + folder_.path("g") + name + ".npy"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  void expect(const std::vector<std::string>& more, const step::LossGradients<double>& loss,
              const step::Forms& forms = {}) {
    const step::Cell plain = engine::select_cell(engine::load_cell_file("gru").value(), "").value();
    const step::Cell cell = step::with_forms(plain, forms).value();
    const auto wanted = step::run_backward(cell, {2, 5, 1, 4}, arguments_, loss).value();
    for (const bool reference : {false, true}) {
      std::vector<std::string> call = words(more);
      if (reference) call.emplace_back("--reference");
      const Outcome run = rondo(call);
      ASSERT_EQ(run.status, 0) << run.err;
      expect_near(read_back(folder_.path("gx.npy")), wanted.inputs.at("x"), "x");
      expect_near(read_back(folder_.path("gR.npy")), wanted.params.at("R"), "R");
      expect_near(read_back(folder_.path("gb.npy")), wanted.params.at("b"), "b");
      expect_near(read_back(folder_.path("gh.npy")), wanted.initial_states.at("h"), "h");
    }
  }

  Folder folder_;
  step::ForwardArguments<double> arguments_;
  Numbers outputs_, last_;
};

TEST_F(Gradients, OfTheSumOfOutputsWithoutWeights) {
  step::LossGradients<double> loss;
  loss.outputs["h"] = Numbers(40, 1);
  expect({"--out", "h=" + folder_.path("h.npy")}, loss);
  EXPECT_EQ(engine::read_npy(folder_.path("h.npy"))->shape, (std::vector<std::int64_t>{2, 5, 1, 4}));
  EXPECT_EQ(engine::read_npy(folder_.path("gR.npy"))->shape, (std::vector<std::int64_t>{1, 3, 4, 4}));
}

TEST_F(Gradients, OfAWeightedSum) {
  expect({"--loss", "h=" + folder_.path("wh.npy")}, {{{"h", outputs_}}, {}});
  expect({"--loss-last", "h=" + folder_.path("wlast.npy")}, {{}, {{"h", last_}}});
  expect({"--loss", "h=" + folder_.path("wh.npy"), "--loss-last", "h=" + folder_.path("wlast.npy")},
         {{{"h", outputs_}}, {{"h", last_}}});
}

TEST_F(Gradients, WithResetsAndLengths) {
  const auto write_bytes = [&](const char* name, const std::vector<std::int64_t>& shape,
                               const std::string& descr, const std::string& data) {
    write_file(folder_.path(name), engine::to_npy({descr, shape, data}));
  };
  arguments_.flags["resets"] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  arguments_.flags["lengths"] = {5, 3};
  write_bytes("resets.npy", {2, 5}, "|u1", std::string("\0\0\1\0\0\0\1\0\0\0", 10));
  write_bytes("lengths.npy", {2}, "<i4", std::string("\5\0\0\0\3\0\0\0", 8));
  step::Forms forms;
  forms.resets = forms.lengths = true;
  expect({"--loss", "h=" + folder_.path("wh.npy"), "--resets", folder_.path("resets.npy"), "--lengths",
          folder_.path("lengths.npy")},
         {{{"h", outputs_}}, {}}, forms);
}

// Products of matrices too, or the states of every other step alone.
TEST_F(Gradients, WhateverIsSaved) {
  for (const char* save : {"products", "every=2", "auto"})
    expect({"--save", save, "--loss", "h=" + folder_.path("wh.npy"), "--loss-last",
            "h=" + folder_.path("wlast.npy")},
           {{{"h", outputs_}}, {{"h", last_}}});
}

// What may not have the memory of one piece runs in parts of time, or saves less, and gives the same.
TEST_F(Gradients, WithinAMemory) {
  ASSERT_EQ(rondo({"data", "lnlstm", "--shape", "B=1,T=400,H=1,D=16", "-o", folder_.path("lstm")}).status, 0);
  const auto taken = [&](const std::vector<std::string>& more, int status = 0) {
    std::vector<std::string> call = {"run",    "lnlstm", "--no-db",
                                     "--json", "--grad", "x=" + folder_.path("gx.npy")};
    for (const char* array : {"x", "R", "b", "gamma", "gamma_h", "beta_h"})
      call.insert(call.end(), {*array == 'x' ? "--input" : "--param-file",
                               array + ("=" + folder_.path("lstm")) + "/" + array + ".npy"});
    call.insert(call.end(), more.begin(), more.end());
    const Outcome run = rondo(call);
    EXPECT_EQ(run.status, status) << run.err;
    return nlohmann::json::parse(run.out);
  };
  const nlohmann::json whole = taken({})["training"];
  if (whole.is_null()) GTEST_SKIP() << "no compiler for CPUs";
  const Numbers wanted = read_back(folder_.path("gx.npy"));
  const auto bytes = [](const nlohmann::json& training) {
    return training["saved_bytes"].get<std::int64_t>() + training["workspace_bytes"].get<std::int64_t>();
  };
  EXPECT_EQ(whole["parts_of_time"], 1);
  EXPECT_EQ(taken({"--save", "auto", "--memory", "1GB"})["training"]["parts_of_time"], 1);
  const std::int64_t less = bytes(whole) / 3;
  const nlohmann::json parts = taken({"--save", "auto", "--memory", std::to_string(less)})["training"];
  EXPECT_GT(parts["parts_of_time"], 1);
  EXPECT_LE(bytes(parts), less);
  expect_near(read_back(folder_.path("gx.npy")), wanted, "x");
  const nlohmann::json none = taken({"--save", "auto", "--memory", "1"}, 3)["error"];
  EXPECT_NE(none["message"].get<std::string>().find("bytes beside its tensors at the least"),
            std::string::npos)
      << none;
}

TEST_F(Gradients, OfNoSteps) {
  write_array(folder_.path("x.npy"), {2, 0, 1, 3, 4});
  const Outcome run = rondo(words({"--loss-last", "h=" + folder_.path("wlast.npy")}));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(read_back(folder_.path("gh.npy")), last_) << "the last state is the first one";
  EXPECT_EQ(read_back(folder_.path("gb.npy")), Numbers(12, 0));
  EXPECT_TRUE(read_back(folder_.path("gx.npy")).empty());
}

TEST_F(Gradients, MistakesAreNamed) {
  const auto fails = [&](const std::vector<std::string>& more, const std::string& why) {
    const Outcome run = rondo(words(more));
    EXPECT_EQ(run.status, 2) << why;
    EXPECT_NE(run.err.find(why), std::string::npos) << run.err;
  };
  fails({"--grad", "y=" + folder_.path("y.npy")}, "has no input, parameter or state 'y'");
  fails({"--loss", "y=" + folder_.path("wh.npy")}, "has no output 'y'");
  fails({"--loss", "h=" + folder_.path("wlast.npy")}, "have shape (2, 1, 4); the run wants (2, 5, 1, 4)");
  const std::string weights = "h=" + folder_.path("wh.npy");
  fails({"--loss", weights, "--loss", weights}, "are given twice");
  fails({"--save", "every=0"}, "--save every=0: '0' is no number of steps");
  fails({"--save", "some"}, "unknown --save 'some'");
  fails({"--memory", "4GB"}, "--save states says it");
  fails({"--save", "auto", "--memory", "4 gigs"}, "'4 gigs' is no size of memory");
  write_array(folder_.path("mx.npy"), {2, 5, 1, 2, 4});
  const Outcome saved =
      rondo({"run", "mingru", "--no-db", "--input", "x=" + folder_.path("mx.npy"), "--save", "every=2"});
  EXPECT_EQ(saved.status, 2);
  EXPECT_NE(saved.err.find("nothing is differentiated"), std::string::npos) << saved.err;
  const Outcome alone =
      rondo({"run", "mingru", "--no-db", "--input", "x=" + folder_.path("mx.npy"), "--loss", weights});
  EXPECT_EQ(alone.status, 2);
  EXPECT_NE(alone.err.find("--grad NAME=FILE.npy"), std::string::npos) << alone.err;
}

}  // namespace
}  // namespace rondo::test
