#include "tests/backend/llvm/nvptx/evaluator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>
#include <stdexcept>

namespace rondo::backend::nvptx::testing {

namespace {

using Bits = std::uint64_t;

float to_float(Bits bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
Bits of_float(float x) { return std::bit_cast<std::uint32_t>(x); }
int width(const std::string& type) {
  return type == "float" ? 32 : type == "double" ? 64 : std::stoi(type.substr(1));
}
Bits masked(Bits bits, const std::string& type) {
  return width(type) == 64 ? bits : bits & ((Bits{1} << width(type)) - 1);
}
std::int64_t as_signed(Bits bits, const std::string& type) {
  const int unused = 64 - width(type);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}
bool is_type(const std::string& word) {
  return word == "float" || word == "double" || word == "i1" || word == "i32" || word == "i64";
}

[[noreturn]] void unknown(const std::string& what) {
  throw std::runtime_error("the evaluator does not know " + what);
}

double real_binary(const std::string& op, double a, double b) {
  if (op == "fadd") return a + b;
  if (op == "fsub") return a - b;
  if (op == "fmul") return a * b;
  if (op == "fdiv") return a / b;
  unknown(op);
}

Bits binary(const std::string& op, const std::string& type, Bits a, Bits b) {
  // Sums, products and quotients of floats in double, rounded once more, are those of float.
  if (type == "float") return of_float(static_cast<float>(real_binary(op, to_float(a), to_float(b))));
  if (type == "double")
    return std::bit_cast<Bits>(real_binary(op, std::bit_cast<double>(a), std::bit_cast<double>(b)));
  if (op == "add") return masked(a + b, type);
  if (op == "sub") return masked(a - b, type);
  if (op == "mul") return masked(a * b, type);
  if (op == "and") return a & b;
  if (op == "or") return a | b;
  if (op == "xor") return a ^ b;
  if (b >= static_cast<Bits>(width(type))) throw std::runtime_error("a shift by too much");
  if (op == "shl") return masked(a << b, type);
  if (op == "lshr") return a >> b;
  if (op == "ashr") return masked(static_cast<Bits>(as_signed(a, type) >> b), type);
  unknown(op);
}

bool compare(const std::string& op, const std::string& type, Bits a, Bits b) {
  if (type == "float") {
    const float x = to_float(a), y = to_float(b);
    if (op == "olt") return x < y;
    if (op == "ole") return x <= y;
    if (op == "ogt") return x > y;
    if (op == "oge") return x >= y;
    if (op == "oeq") return x == y;
    if (op == "une") return x != y;
    if (op == "ord") return !std::isnan(x) && !std::isnan(y);
    unknown(op);
  }
  if (type == "double") {
    const double x = std::bit_cast<double>(a), y = std::bit_cast<double>(b);
    if (op == "olt") return x < y;
    if (op == "ogt") return x > y;
    if (op == "oeq") return x == y;
    unknown(op);
  }
  if (op == "eq") return a == b;
  if (op == "ne") return a != b;
  if (op == "uge") return a >= b;
  if (op == "ult") return a < b;
  if (op == "slt") return as_signed(a, type) < as_signed(b, type);
  unknown(op);
}

Bits cast(const std::string& op, const std::string& from, const std::string& to, Bits a) {
  if (op == "bitcast" || op == "zext") return a;
  if (op == "trunc") return masked(a, to);
  if (op == "sext") return masked(static_cast<Bits>(as_signed(a, from)), to);
  if (op == "fpext") return std::bit_cast<Bits>(static_cast<double>(to_float(a)));
  if (op == "fptrunc" && from == "double") return of_float(static_cast<float>(std::bit_cast<double>(a)));
  if (op == "sitofp" && to == "float") return of_float(static_cast<float>(as_signed(a, from)));
  if (op == "sitofp") return std::bit_cast<Bits>(static_cast<double>(as_signed(a, from)));
  unknown(op);
}

// The larger, or NaN if one is.
float no_smaller(float a, float b) { return std::isnan(a) || std::isnan(b) ? a + b : std::max(a, b); }

Bits intrinsic(const std::string& name, const std::vector<Bits>& a) {
  if (name == "llvm.fma.f32") return of_float(std::fma(to_float(a[0]), to_float(a[1]), to_float(a[2])));
  if (name == "llvm.fabs.f32") return of_float(std::fabs(to_float(a[0])));
  if (name == "llvm.floor.f32") return of_float(std::floor(to_float(a[0])));
  if (name == "llvm.copysign.f32") return of_float(std::copysign(to_float(a[0]), to_float(a[1])));
  if (name == "llvm.maxnum.f32") return of_float(std::fmax(to_float(a[0]), to_float(a[1])));
  if (name == "llvm.minnum.f32") return of_float(std::fmin(to_float(a[0]), to_float(a[1])));
  if (name == "llvm.maximum.f32") return of_float(no_smaller(to_float(a[0]), to_float(a[1])));
  if (name == "llvm.minimum.f32") return of_float(-no_smaller(-to_float(a[0]), -to_float(a[1])));
  unknown(name);
}

}  // namespace

// Reads one function.
class Evaluator::Reader {
 public:
  Reader(const Evaluator& evaluator, Function& function) : evaluator_(evaluator), function_(function) {}

  void parameters(const std::vector<std::string>& words) {
    for (const std::string& word : words)
      if (word[0] == '%') value(word), ++function_.parameters;
  }
  void label(const std::string& name) { labels_[name] = function_.body.size(); }
  void line(const std::vector<std::string>& words) {
    std::size_t at = 0;
    Instruction next{};
    if (words.size() > 1 && words[1] == "=") at = 2;
    instruction(words, at, next);
    if (at == 2 || (words.size() > 1 && words[1] == "=")) next.result = value(words[0]);
    function_.body.push_back(std::move(next));
  }
  // Branches learn where their labels stand.
  void finish() {
    for (const auto& [at, names] : branches_)
      for (const std::string& name : names) function_.body[at].targets.push_back(labels_.at(name));
    function_.values = static_cast<int>(values_.size());
  }

 private:
  int value(const std::string& name) {
    return values_.try_emplace(name, static_cast<int>(values_.size())).first->second;
  }
  Operand operand(const std::string& word, const std::string& type) {
    if (word[0] == '%') return {value(word), 0};
    if (word == "true" || word == "false") return {-1, word == "true" ? Bits{1} : Bits{0}};
    if (type == "float" || type == "double") {
      const double x =
          word.starts_with("0x") ? std::bit_cast<double>(std::stoull(word, nullptr, 16)) : std::stod(word);
      if (type == "double") return {-1, std::bit_cast<Bits>(x)};
      if (!std::isnan(x) && static_cast<double>(static_cast<float>(x)) != x)
        throw std::runtime_error(word + " is no float");
      return {-1, of_float(static_cast<float>(x))};
    }
    return {-1, masked(static_cast<Bits>(std::stoll(word)), type)};
  }

  void instruction(const std::vector<std::string>& words, std::size_t at, Instruction& next) {
    next.op = words[at++];
    const auto rest = [&] {
      while (at < words.size() && !is_type(words[at])) ++at;  // "contract", "internal"
      next.type = words[at++];
    };
    if (next.op == "ret") {
      next.kind = Kind::Return;
      rest();
      next.operands = {operand(words[at], next.type)};
    } else if (next.op == "br") {
      next.kind = Kind::Branch;
      if (words[at] == "i1") next.operands = {operand(words[at + 1], "i1")}, at += 2;
      for (; at < words.size(); ++at)
        if (words[at][0] == '%') branches_[function_.body.size()].push_back(words[at].substr(1));
    } else if (next.op == "call") {
      call(words, at, next);
    } else if (next.op == "fcmp" || next.op == "icmp") {
      next.kind = Kind::Compare;
      next.op = words[at++];
      rest();
      next.operands = {operand(words[at], next.type), operand(words[at + 1], next.type)};
    } else if (next.op == "select") {
      next.kind = Kind::Select;
      next.operands = {operand(words[at + 1], "i1"), operand(words[at + 3], words[at + 2]),
                       operand(words[at + 5], words[at + 4])};
    } else if (next.op == "fneg") {
      next.kind = Kind::Negate;
      rest();
      next.operands = {operand(words[at], next.type)};
    } else {
      const bool converts = words.size() > at + 2 && words[at + 2] == "to";
      next.kind = converts ? Kind::Cast : Kind::Binary;
      rest();
      next.operands = {operand(words[at], next.type)};
      if (converts)
        next.to = words[at + 2];
      else
        next.operands.push_back(operand(words[at + 1], next.type));
    }
  }
  void call(const std::vector<std::string>& words, std::size_t at, Instruction& next) {
    next.kind = Kind::Call;
    next.to = words[at++];
    if (words[at] == "asm") {
      next.op = words[at + 1].substr(1);  // behind the quote
      while (!words[at].ends_with('"') || words[at].find("f,f") == std::string::npos) ++at;
    } else {
      next.op = words[at].substr(1);
    }
    for (++at; at + 1 < words.size(); at += 2) next.operands.push_back(operand(words[at + 1], words[at]));
    const auto hardware = evaluator_.hardware_.find(next.op);
    if (hardware != evaluator_.hardware_.end()) {
      next.hardware = &hardware->second;
      return;
    }
    const auto callee = evaluator_.names_.find(next.op);
    if (callee != evaluator_.names_.end()) next.callee = callee->second;
  }

  const Evaluator& evaluator_;
  Function& function_;
  std::map<std::string, int> values_;
  std::map<std::string, std::size_t> labels_;
  std::map<std::size_t, std::vector<std::string>> branches_;
};

void Evaluator::add(std::string_view text) {
  std::istringstream stream{std::string(text)};
  Function function;
  std::string name;
  Reader* reader = nullptr;
  Reader of(*this, function);
  for (std::string line; std::getline(stream, line);) {
    line = line.substr(0, line.find(" ;"));
    if (line.starts_with(';') || line.empty()) continue;
    // Quoted text keeps its commas and goes on as one word a blank.
    bool quoted = false;
    for (char& c : line) {
      if (c == '"') quoted = !quoted;
      if (!quoted && (c == ',' || c == '(' || c == ')')) c = ' ';
    }
    std::istringstream split(line);
    std::vector<std::string> words;
    for (std::string word; split >> word;) words.push_back(word);
    if (words[0] == "define") {
      const auto at = std::ranges::find_if(words, [](const std::string& word) { return word[0] == '@'; });
      name = at->substr(1);
      reader = &of;
      of.parameters(words);
    } else if (words[0] == "}") {
      of.finish();
    } else if (words[0].ends_with(':')) {
      reader->label(words[0].substr(0, words[0].size() - 1));
    } else {
      reader->line(words);
    }
  }
  names_[name] = static_cast<int>(functions_.size());
  functions_.push_back(std::move(function));
}

std::uint64_t Evaluator::run(const Function& function, const std::vector<std::uint64_t>& arguments) const {
  std::vector<Bits> values(static_cast<std::size_t>(function.values));
  std::copy(arguments.begin(), arguments.end(), values.begin());
  std::vector<Bits> read;
  for (std::size_t at = 0; at < function.body.size();) {
    const Instruction& next = function.body[at++];
    read.clear();
    for (const Operand& operand : next.operands)
      read.push_back(operand.value < 0 ? operand.bits : values[static_cast<std::size_t>(operand.value)]);
    Bits result = 0;
    switch (next.kind) {
      case Kind::Binary: result = binary(next.op, next.type, read[0], read[1]); break;
      case Kind::Compare: result = compare(next.op, next.type, read[0], read[1]) ? 1 : 0; break;
      case Kind::Select: result = read[0] != 0 ? read[1] : read[2]; break;
      case Kind::Cast: result = cast(next.op, next.type, next.to, read[0]); break;
      case Kind::Negate: result = of_float(-to_float(read[0])); break;
      case Kind::Call:
        result = next.hardware != nullptr ? of_float((*next.hardware)(to_float(read[0])))
                 : next.callee >= 0       ? run(functions_[static_cast<std::size_t>(next.callee)], read)
                                          : intrinsic(next.op, read);
        break;
      case Kind::Branch: at = next.targets[read.empty() || read[0] != 0 ? 0 : 1]; break;
      case Kind::Return: return read[0];
    }
    if (next.result >= 0) values[static_cast<std::size_t>(next.result)] = result;
  }
  throw std::runtime_error("a function without an end");
}

float Evaluator::operator()(const std::string& function, float x) const {
  return to_float(run(functions_[static_cast<std::size_t>(names_.at(function))], {of_float(x)}));
}

std::uint64_t Evaluator::operator()(const std::string& function,
                                    const std::vector<std::uint64_t>& arguments) const {
  return run(functions_[static_cast<std::size_t>(names_.at(function))], arguments);
}

}  // namespace rondo::backend::nvptx::testing
