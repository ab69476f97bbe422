// The style and the script of pages, compiled in: the files of tuner/report/page.
#pragma once

#include <vector>

#include "compiler/support/embedded_text.h"

namespace rondo::tuner {

// "style" is CSS, "script" is JavaScript.
const std::vector<EmbeddedText>& embedded_page();

}  // namespace rondo::tuner
