#include "compiler/backend/cuda/prelude.h"

#include <fmt/format.h>

#include "compiler/support/enum_text.h"

namespace rondo::backend::cuda {

using kernel::Storage;

namespace {

constexpr std::string_view kInline = "__device__ __forceinline__";

// Pairs are taken from, and put to, elements of 16 bits.
std::string_view pointed_at(const VectorAccess& access) {
  return access.pairs ? "void" : element_type(access.storage);
}

bool is_packed(Storage storage) { return storage == Storage::BF16 || storage == Storage::F16; }

std::string_view packing(const VectorAccess& access) {
  if (access.store) return access.storage == Storage::BF16 ? "pack_bf16" : "pack_fp16";
  return access.storage == Storage::BF16 ? "unpack_bf16" : "unpack_fp16";
}

// The built-in type that moves all elements at once, and how many 32-bit words it has.
struct Carrier {
  std::string type;
  int words;
};
Carrier carrier(const VectorAccess& access) {
  const int words = access.count * storage_bytes(access.storage) / 4;
  const std::string word = is_packed(access.storage)        ? "uint"
                           : access.storage == Storage::F32 ? "float"
                                                            : "int";
  if (words == 1) return {word == "uint" ? "unsigned" : word, 1};
  return {fmt::format("{}{}", word, words), words};
}

std::string component(const Carrier& carrier, int word) {
  return carrier.words == 1 ? "packed" : fmt::format("packed.{}", "xyzw"[word]);
}

// As many elements as registers: one, and the function's value.
bool is_single(const VectorAccess& access) { return access.pairs && access.count == 1; }

// A function with one statement in it: on one line if that has room.
std::string one_statement(const std::string& head, const std::string& statement) {
  const std::string line = fmt::format("{} {{ {} }}\n", head, statement);
  return line.size() <= kColumns + 1 ? line : fmt::format("{} {{\n  {}\n}}\n", head, statement);
}

std::string define_load(const VectorAccess& access) {
  const Carrier whole = carrier(access);
  const std::string_view value = access.storage == Storage::I32 ? "int" : "float";
  const std::string address = fmt::format("reinterpret_cast<const {}*>(from)", whole.type);
  const std::string loaded = access.streaming ? "__ldcs(" + address + ")" : "*" + address;
  if (is_single(access))
    return one_statement(fmt::format("{} int {}(const void* from)", kInline, name(access)),
                         fmt::format("return {};", loaded));
  std::string parameters;
  for (int i = 0; i < access.count; ++i) parameters += fmt::format(", {}& v{}", value, i);
  std::string text = fmt::format("{} void {}(const {}* from{}) {{\n  const {} packed = {};\n", kInline,
                                 name(access), pointed_at(access), parameters, whole.type, loaded);
  for (int word = 0; word < whole.words; ++word) {
    if (is_packed(access.storage))
      text += fmt::format("  {}({}, v{}, v{});\n", packing(access), component(whole, word), 2 * word,
                          2 * word + 1);
    else
      text += fmt::format("  v{} = {};\n", word, component(whole, word));
  }
  return text + "}\n";
}

std::string define_store(const VectorAccess& access) {
  const Carrier whole = carrier(access);
  const std::string_view value = access.storage == Storage::I32 ? "int" : "float";
  std::string parameters;
  for (int i = 0; i < access.count; ++i) parameters += fmt::format(", {} v{}", value, i);
  std::string words;
  for (int word = 0; word < whole.words; ++word) {
    if (word > 0) words += ", ";
    words += is_packed(access.storage) ? fmt::format("{}(v{}, v{})", packing(access), 2 * word, 2 * word + 1)
                                       : fmt::format("v{}", word);
  }
  const std::string packed = whole.words == 1 ? words : fmt::format("make_{}({})", whole.type, words);
  const std::string address = fmt::format("reinterpret_cast<{}*>(to)", whole.type);
  return one_statement(
      fmt::format("{} void {}({}* to{})", kInline, name(access), pointed_at(access), parameters),
      access.streaming ? fmt::format("__stcs({}, {});", address, packed)
                       : fmt::format("*{} = {};", address, packed));
}

}  // namespace

std::string name(const VectorAccess& access) {
  if (is_single(access))
    return fmt::format("{}_pair{}", access.store ? "store" : "load", access.streaming ? "_streaming" : "");
  return fmt::format("{}_{}x{}{}", access.store ? "store" : "load",
                     access.pairs ? "pairs_" : storage_name(access.storage), access.count,
                     access.streaming ? "_streaming" : "");
}

namespace {

constexpr EnumText<Storage> kElementTypes[] = {{Storage::F32, "float"},        {Storage::BF16, "bf16"},
                                               {Storage::F16, "fp16"},         {Storage::I32, "int"},
                                               {Storage::U8, "unsigned char"}, {Storage::F64, "double"}};
static_assert(is_total(kElementTypes));

}  // namespace

std::string_view element_type(Storage storage) { return to_text(kElementTypes, storage); }

void Prelude::require(std::string_view name) { require_helper(helpers(target_), name, required_); }

std::string Prelude::require(const VectorAccess& access) {
  accesses_.insert(access);
  if (!access.pairs) require(element_type(access.storage));
  if (is_packed(access.storage)) require(packing(access));
  return name(access);
}

std::string Prelude::require(const WarpgroupProduct& product) {
  products_.insert(product);
  for (const std::string_view needed : needs(product)) require(needed);
  return name(product);
}

// Functions of one line stand together, others, and those with a comment, by themselves.
std::string Prelude::text() const {
  std::string text;
  bool alone = true;
  const auto put = [&](std::string_view declaration) {
    const bool single = !declaration.starts_with("//") && declaration.find("\n  ") == std::string_view::npos;
    if (!text.empty() && (alone || !single)) text += '\n';
    text += declaration;
    alone = !single;
  };
  for (const Helper& helper : helpers(target_))
    if (required_.contains(helper.name)) put(helper.text);
  for (const VectorAccess& access : accesses_) put(access.store ? define_store(access) : define_load(access));
  for (const WarpgroupProduct& product : products_) put(define(product));
  return text;
}

std::vector<std::string> helper_names() {
  std::vector<std::string> names;
  for (const Helper& helper : helpers()) names.emplace_back(helper.name);
  for (Storage storage : {Storage::BF16, Storage::F16})
    for (int columns = 16; columns <= 256; columns += 16)
      names.push_back(name(WarpgroupProduct{storage, columns}));
  for (bool store : {false, true})
    for (bool streaming : {false, true}) {
      for (Storage storage : {Storage::F32, Storage::BF16, Storage::F16, Storage::I32})
        for (int count : {2, 4, 8}) names.push_back(name({storage, count, store, streaming}));
      for (int count : {1, 2, 4}) names.push_back(name({Storage::I32, count, store, streaming, true}));
    }
  return names;
}

}  // namespace rondo::backend::cuda
