// A kernel that makes each element of a tensor from elements of others: copies between tensors of other
// shapes, and sums of what lies alike. Launches beside a walk over time bring tensors into the shape that the
// walk has, and take results out of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/schedule/plan/signature.h"

namespace rondo::schedule {

class ElementCopy {
 public:
  ElementCopy(const Task& task, const std::string& name, const std::string& comment);

  // Of a tensor without a batch axis that is all written: value(element).
  Launch of_all(const KernelTensor& to, std::int64_t count,
                const std::function<kernel::Value(kernel::Value)>& value);

  // Elements are of a (batch row, step), of a batch row or of all. `find`: which one of `from` belongs to an
  // element of the tensor that is written, and whether there is one; where there is none the value is 0.
  struct Place {
    kernel::Value exists, element;
  };
  struct Source {
    KernelTensor from;
    std::int64_t count;  // elements
    std::function<Place(kernel::Value)> find;
    // Of a tensor with a time axis: so many of its batch rows belong to one of `to`, and are added up.
    int batch_rows = 1;
  };
  // Sources are added up. `count`: elements of `to`.
  Launch copy(const KernelTensor& to, std::int64_t count, const std::vector<Source>& sources,
              const executable::RoleInfo& role);

  Signature& signature() { return signature_; }
  kernel::Builder& b() { return b_; }

 private:
  using Begin = std::function<kernel::Value(const KernelTensor&, std::int64_t count, kernel::Value row)>;

  std::int64_t blocks_of(std::int64_t count) const;
  void elements(kernel::Value block, std::int64_t count, const std::function<void(kernel::Value)>& body);
  void move(kernel::Value block, const KernelTensor& to, std::int64_t count,
            const std::vector<Source>& sources, kernel::Value row, const Begin& begin);
  void add(const Source& source, const Place& place, kernel::Value row, const Begin& begin,
           const std::function<void(kernel::Value)>& take);
  Launch copy_steps(const KernelTensor& to, std::int64_t count, const std::vector<Source>& sources);

  const Task& task_;
  int threads_;
  kernel::Builder b_;
  Signature signature_;
};

}  // namespace rondo::schedule
