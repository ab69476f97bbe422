// The commands of `rondo`, one file each. They print their result; an error is the caller's to report.
#pragma once

#include "compiler/support/result.h"
#include "tools/rondo/options/options.h"

namespace rondo::tools {

Status check(const Options& options);
Status emit(const Options& options);
Status tune(const Options& options);
Status tune_list(const Options& options);
Status run(const Options& options);
Status data(const Options& options);
Status verify(const Options& options);
Status bench(const Options& options);
Status why(const Options& options);
Status report_page(const Options& options);
Status package(const Options& options);
Status database(const Options& options);
Status calibrate(const Options& options);
Status doctor(const Options& options);

}  // namespace rondo::tools
