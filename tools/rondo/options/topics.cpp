#include "tools/rondo/options/topics.h"

#include <fmt/format.h>

#include <algorithm>

namespace rondo::tools {
namespace {

struct Row {
  const char* name;
  const char* what;
};

// docs/command-line.md has the same, with links.
constexpr Row kEnvironment[] = {
    {"RONDO_DB", "the tuning database"},
    {"RONDO_SHIPPED", "an export that is read instead of the shipped choices; none: no such choices"},
    {"RONDO_LIBCUDA", "path of libcuda; none hides the GPU"},
    {"RONDO_NVRTC", "path or folder of NVRTC; none hides it"},
    {"RONDO_LLVM", "path or folder of librondo_llvm.so; none hides it"},
    {"RONDO_PTXAS", "path of ptxas"},
    {"RONDO_NVJITLINK", "path of libnvJitLink"},
    {"RONDO_BACKEND", "as --backend: nvrtc, llvm or auto"},
    {"RONDO_THREADS", "threads of kernels on CPUs; default: one for each usable CPU"},
    {"RONDO_WORKER", "the program that is started as worker; default: this one"},
    {"CUDA_VISIBLE_DEVICES", "as everywhere; Rondo uses the first"},
    {"NO_COLOR", "not empty: no colour on a terminal"},
    {"CLICOLOR_FORCE", "not empty and not 0: colour also where there is no terminal"},
};

constexpr Row kFiles[] = {
    {"$XDG_DATA_HOME/rondo/tuning.db", "the tuning database where neither --db nor RONDO_DB names one"},
    {"~/.local/share/rondo/tuning.db", "the same without XDG_DATA_HOME"},
    {"PREFIX/share/rondo/cells", "the shipped cells as text; the command has them in itself"},
    {"PREFIX/share/rondo/shipped", "the shipped choices as JSON; the command has them in itself"},
    {"PREFIX/share/doc/rondo/docs", "the documentation"},
    {"PREFIX/lib/rondo/librondo_llvm.so", "LLVM, which compiles kernels for CPUs"},
};

constexpr Row kStatus[] = {
    {"0", "done"},
    {"2", "bad input"},
    {"3", "unsupported"},
    {"4", "something is missing"},
    {"5", "the database cannot be used"},
    {"6", "the GPU or its driver failed"},
    {"7", "the compiler failed"},
    {"8", "wrong results"},
    {"70", "a defect of Rondo"},
    {"71", "too little memory"},
    {"130", "cancelled"},
};

template <std::size_t Count>
std::string table(const Row (&rows)[Count]) {
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, std::string(row.name).size());
  std::string text;
  for (const Row& row : rows) text += fmt::format("  {:<{}}  {}\n", row.name, width, row.what);
  return text;
}

std::string lines_of(const std::vector<Example>& list) {
  std::string text;
  for (const Example& example : list) text += fmt::format("  # {}\n  {}\n", example.what, example.line);
  return text;
}

}  // namespace

const std::vector<Example>& examples() {
  static const std::vector<Example> list = {
      {"check", "rondo check lstm --shape B=16,T=1024,H=1,D=768 --arch h100",
       "what the cell allows, and what an H100 would take"},
      {"check", "rondo check mycell.cell --arch all", "which boards it fits"},
      {"emit", "rondo emit mingru --shape D=1536 -o mingru.cu", "CUDA C++, whose top says how to compile it"},
      {"emit", "rondo emit gru --stage backward", "the derived backward step"},
      {"tune", "rondo tune lstm --shape B=16,T=1024,H=1,D=768 --pass fws,bw --budget 2m",
       "search both passes of training, two minutes each"},
      {"tune", "rondo tune mingru --arch cpu --dtype fp32", "for the CPUs of this machine"},
      {"tune", "rondo tune --list problems.json --gpus all --budget 20s",
       "what a list names, on all GPUs of this machine"},
      {"tune", "rondo tune --list problems.json --shard 2/8 --db tuning.db",
       "a part of it, into tuning.2-of-8.db"},
      {"run", "rondo run mingru --input x=x.npy --out h=h.npy --last h=last.npy",
       "over an array [B, T, H, 2, D]"},
      {"run", "rondo run lstm --input x=x.npy --param-file U=U.npy --param-file b=b.npy --out h=-",
       "the output as .npy on standard output"},
      {"data", "rondo data mingru --shape B=2,T=64,H=1,D=128 -o arrays", "arrays/x.npy and arrays/h0.npy"},
      {"verify", "rondo verify mingru --simulate --shape B=2,T=33,H=1,D=64 --pass fw,bw",
       "in the simulator, without a GPU"},
      {"verify", "rondo verify lstm --pass fw,fws,bw --dtype bf16", "what is tuned here, on the GPU"},
      {"bench", "rondo bench mingru --shape B=8,T=4096,H=1,D=1536 --pass fws,bw",
       "times beside those of a copy"},
      {"bench", "rondo bench lstm --ablate", "what a step's time is made of"},
      {"why", "rondo why lstm --shape B=16,T=1024,H=1,D=768 --arch h200",
       "what binds, by model where the board is not here"},
      {"report", "rondo report -o report.html", "pictures of all that is tuned, for a browser"},
      {"report", "rondo report lstm --shape B=16,T=1024,H=1,D=768 --arch h200 -o lstm.html",
       "of one problem"},
      {"package build", "rondo package build lstm gru --shape B=16,T=1024,H=1,D=768 --pass fw -o rnn.rondo",
       "kernels for six architectures, and PTX for later ones"},
      {"package list", "rondo package list rnn.rondo", "a kernel a line"},
      {"package show", "rondo package show rnn.rondo --json", "the manifest"},
      {"package verify", "rondo package verify rnn.rondo --no-gpu", "are the bytes those that were written?"},
      {"package extract", "rondo package extract rnn.rondo -o parts", "cubins as files"},
      {"package merge", "rondo package merge a.rondo b.rondo -o both.rondo", "one file instead of two"},
      {"db list", "rondo db list lstm", "what is tuned of a cell"},
      {"db show", "rondo db show lstm --json", "all trials, with the model's times"},
      {"db export", "rondo db export --best -o best.json", "the best of each problem, to be shared"},
      {"db import", "rondo db import best.json", "what another machine found"},
      {"db merge", "rondo db merge other.db", "the same without an export"},
      {"db prune", "rondo db prune --before 90d", "forget old trials"},
      {"db check", "rondo db check --db tuning.db", "is the file sound?"},
      {"db lock", "rondo db lock -o choices.lock", "pin every choice, for --lock"},
      {"calibrate", "rondo calibrate -o profile.json", "measure this GPU, for the model"},
      {"doctor", "rondo doctor", "what is here, what is missing, and what to do about it"},
      {"completion", "rondo completion bash > ~/.local/share/bash-completion/completions/rondo",
       "for one user; a package installs it for all"},
      {"help", "rondo help package build", "as `rondo package build --help`"},
      {"help", "rondo help environment", "the variables that Rondo reads"},
  };
  return list;
}

std::string examples_of(const std::string& command) {
  std::vector<Example> list;
  for (const Example& example : examples())
    if (command == example.command) list.push_back(example);
  return list.empty() ? "" : "examples:\n" + lines_of(list);
}

const std::vector<std::string>& topics() {
  static const std::vector<std::string> all = {"examples", "environment", "files", "status"};
  return all;
}

std::string topic_text(const std::string& topic) {
  if (topic == "examples") return lines_of(examples());
  if (topic == "environment") return table(kEnvironment);
  if (topic == "files") return table(kFiles);
  if (topic == "status") return table(kStatus);
  return "";
}

}  // namespace rondo::tools
