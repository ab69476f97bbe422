// KernelIR statements as C++ text.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "compiler/backend/cuda/cold_branch.h"
#include "compiler/backend/cuda/expressions.h"

namespace rondo::backend::cuda {

// The text as `//` comments, one a line, each preceded by `indent`; a backslash at the end would join the
// next line.
std::string comment_lines(std::string_view text, std::string_view indent);

// `begin`, the items with commas between them and `end`, in lines of kColumns; those after the first are
// indented.
std::string wrapped(std::string begin, const std::vector<std::string>& items, std::string_view end,
                    std::size_t indent);

class StatementWriter {
 public:
  // `in_function`: what is written is a cold branch already, so that those in it stand where they are.
  StatementWriter(const kernel::Kernel& kernel, const Names& names, Prelude& prelude, Uses& uses,
                  bool in_function = false);

  // The statements, indented by two spaces a level.
  std::string write(const kernel::Body& body, int level);
  // Of what was written: branches that are functions, which the text has to have before it.
  const std::vector<ColdBranch>& cold_branches() const { return cold_branches_; }

 private:
  struct Units;
  struct Visit;

  void line(std::string_view text);
  std::string declaration(kernel::RegId reg) const;  // "float x"
  void require_type(kernel::Type type) { prelude_.require(type_name(type)); }

  const kernel::Kernel& kernel_;
  const Names& names_;
  Prelude& prelude_;
  ExpressionWriter expressions_;
  std::vector<int> reads_;                            // of each register
  std::set<int> awaited_in_two_roles_;                // named barriers
  std::set<kernel::MbarrierId> signalled_by_others_;  // by other blocks of the cluster
  std::set<kernel::ArrayId> accumulators_;            // of products of warpgroups
  bool in_function_;
  std::vector<ColdBranch> cold_branches_;
  std::string out_;
  int level_ = 0;
};

}  // namespace rondo::backend::cuda
