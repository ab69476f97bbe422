// Products beside a walk by the tiles of GPUs (GemmTile).
#pragma once

#include <memory>

#include "compiler/schedule/gemm/products_beside.h"

namespace rondo::schedule {

std::shared_ptr<ProductsBeside> products_on_gpus(const BesideWhat& what);

}  // namespace rondo::schedule
