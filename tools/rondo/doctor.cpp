// `rondo doctor`: what is here, what is missing, what to do.
#include "engine/doctor/doctor.h"

#include "tools/rondo/commands.h"
#include "tools/rondo/json_view.h"
#include "tools/rondo/report.h"

namespace rondo::tools {

Status doctor(const Options& options) {
  const std::vector<engine::Finding> findings = engine::examine(options.database);
  print(options.json ? doctor_json(findings) : engine::findings_text(findings));
  for (const engine::Finding& finding : findings)
    if (finding.health == engine::Health::Bad) return already_shown(ErrorKind::Missing);
  return success();
}

}  // namespace rondo::tools
