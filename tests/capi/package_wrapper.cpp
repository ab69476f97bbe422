#include "tests/capi/package_wrapper.h"

#include <rondo/package.hpp>
#include <string>

#include "tests/capi/faults.h"

namespace {

namespace api = rondo::api;

void check_sound(const api::Package& package, Faults& faults) {
  faults.check(bool(package.verify()), "a sound package is verified");
  const auto info = package.info();
  faults.check(info && info->entries == 6, "it has its entries");
  const auto entry = package.entry(0);
  faults.check(entry && std::string(entry->cell) == "paragru", "an entry names its cell");
  const auto none = package.entry(99);
  faults.check(!none && none.error().status == RONDO_ERROR_INPUT, "an entry that is not there is an error");

  const auto context = api::Context::cuda();
  if (!context) return faults.check(false, "the driver gives a context");
  const rondo_package_query query = api::package_query("paragru", "fw", 64, 1024);
  const auto index = package.find(*context, query);
  const auto nearest = index ? package.entry(*index) : api::Result<rondo_package_entry>(index.error());
  faults.check(nearest && nearest->batch == 64, "the nearest shape is found");
  const auto plan = package.plan(*context, query);
  const auto about = plan ? plan->info() : api::Result<rondo_plan_info>(plan.error());
  faults.check(about && about->batch == 64 && std::string(about->origin) == "package", "its plan is made");
  const auto other = package.plan(*context, api::package_query("lstm", "fw", 1, 1));
  faults.check(!other && other.error().status == RONDO_ERROR_MISSING, "a cell that it has not is an error");
}

}  // namespace

const char* faults_of_wrapper(const void* data, std::size_t bytes) {
  static std::string text;
  Faults faults;
  const auto cut = api::Package::from_memory(data, bytes - 1);
  faults.check(!cut && cut.error().message.find("no valid package") != std::string::npos,
               "a cut one is refused");
  const auto missing = api::Package::open("/nonexistent.rondo");
  faults.check(!missing && missing.error().status == RONDO_ERROR_MISSING,
               "a file that is not there is an error");
  if (auto package = api::Package::from_memory(data, bytes)) {
    const api::Package moved = std::move(*package);
    check_sound(moved, faults);
  } else {
    faults.check(false, "a sound package is opened");
  }
  text = faults.text();
  return text.c_str();
}
