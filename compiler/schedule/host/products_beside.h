// Products of inputs beside a walk, on CPUs.
#pragma once

#include <memory>

#include "compiler/schedule/gemm/products_beside.h"
#include "compiler/schedule/host/parameters.h"

namespace rondo::schedule {

std::shared_ptr<ProductsBeside> host_products_beside(const BesideWhat& what,
                                                     const HostParameters& parameters);

}  // namespace rondo::schedule
