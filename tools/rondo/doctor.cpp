// `rondo doctor`: what is here, what is missing, what to do.
#include "runtime/commands/doctor.h"

#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/report.h"

namespace rondo::tools {

Status doctor(const Options& options) {
  const std::vector<runtime::Finding> findings = runtime::examine(options.database);
  print(options.json ? doctor_json(findings) : runtime::findings_text(findings));
  for (const runtime::Finding& finding : findings)
    if (finding.health == runtime::Health::Bad) return already_shown(ErrorKind::Missing);
  return success();
}

}  // namespace rondo::tools
