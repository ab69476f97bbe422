// Executables that are taken as they are stored: only those of this very build, made of the very same
// request.
#include <filesystem>

#include "compiler/executable/producer.h"
#include "compiler/support/hash.h"
#include "engine/plan/compile.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

using executable::Identity;

class Stored : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ =
        (std::filesystem::path(::testing::TempDir()) /
         ("stored-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".db"))
            .string();
    std::filesystem::remove(path_);
    database_ = std::make_unique<db::Database>(db::Database::open(path_).value());
    const step::Cell cell = testing::library_cell("mingru");
    const schedule::Problem problem = testing::problem_of(schedule::Pass::Forward);
    code_.executable = schedule::lower_plan({cell, problem, {}}, testing::stream_plan(cell, problem)).value();
    code_.executable.images.resize(1);
    code_.executable.images[0].bytes = "made-up code";
    code_.executable.images[0].seal();
    code_.executable.identity.asked = "what was asked";
    code_.executable.identity.source_hash = sha256_hex("the text");
    wanted_ = code_.executable.identity;
    std::string flags;
    for (const std::string& flag : backend_.flags()) flags += (flags.empty() ? "" : " ") + flag;
    code_.key = {"the text", flags, "sm_90a", backend::compiler_name(backend_.name(), "13.0")};
  }
  void TearDown() override {
    database_.reset();
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }
  std::optional<CompiledCode> found(int capability = 90) {
    store_cubin(code_, *database_);
    return stored_code(wanted_, code_.key.hash(), &backend_, target::Target::gpu(capability), *database_);
  }

  const backend::Backend& backend_ = backend::preferred_backend();
  std::string path_;
  std::unique_ptr<db::Database> database_;
  CompiledCode code_;
  Identity wanted_;
};

TEST_F(Stored, OfTheSameBuildAndRequestIsTaken) {
  const std::optional<CompiledCode> code = found();
  ASSERT_TRUE(code);
  EXPECT_EQ(code->executable, code_.executable);
  EXPECT_EQ(code->key, code_.key);
  EXPECT_EQ(code->code, code_.key.hash());
  EXPECT_TRUE(code->from_cache && code->as_stored);
  EXPECT_EQ(wanted_.build, executable::build_id());
  EXPECT_EQ(wanted_.build.size(), 64u);
  EXPECT_FALSE(stored_code(wanted_, "", &backend_, target::Target::gpu(90), *database_));
  EXPECT_FALSE(stored_code(wanted_, std::string(64, '0'), &backend_, target::Target::gpu(90), *database_));
}

TEST_F(Stored, BelongsToTheBackendThatMadeIt) {
  ASSERT_TRUE(found());
  EXPECT_EQ(backend_of_code(code_.key.hash(), *database_), &backend_);
  EXPECT_EQ(backend_of_code(std::string(64, '0'), *database_), nullptr);
  EXPECT_TRUE(stored_code(wanted_, code_.key.hash(), nullptr, target::Target::gpu(90), *database_))
      << "where none is asked for";
  for (const backend::Backend* other : backend::backends()) {
    if (other == &backend_) continue;
    EXPECT_FALSE(stored_code(wanted_, code_.key.hash(), other, target::Target::gpu(90), *database_))
        << other->name();
  }
}

TEST_F(Stored, EveryFieldOfTheIdentityCounts) {
  for (std::string Identity::*field :
       {&Identity::cell_name, &Identity::cell_hash, &Identity::storage, &Identity::math, &Identity::pass,
        &Identity::strategy, &Identity::parameters, &Identity::source_hash, &Identity::producer,
        &Identity::build, &Identity::asked}) {
    const std::string own = code_.executable.identity.*field;
    code_.executable.identity.*field = "another";
    EXPECT_FALSE(found()) << own;
    code_.executable.identity.*field = own;
    EXPECT_TRUE(found()) << own;
  }
  for (std::int64_t Identity::*field :
       {&Identity::batch, &Identity::time, &Identity::heads, &Identity::dim}) {
    ++(code_.executable.identity.*field);
    EXPECT_FALSE(found());
    --(code_.executable.identity.*field);
    EXPECT_TRUE(found());
  }
}

TEST_F(Stored, WhatWasAskedMustBeKnown) {
  wanted_.asked = code_.executable.identity.asked = "";
  EXPECT_FALSE(found());
}

// The key is what a verification stands for, so the executable must be of the text in it.
TEST_F(Stored, EveryFieldOfTheKeyCounts) {
  const db::CacheKey own = code_.key;
  for (std::string db::CacheKey::*field :
       {&db::CacheKey::source, &db::CacheKey::flags, &db::CacheKey::arch, &db::CacheKey::compiler_version}) {
    code_.key.*field = "another 1";
    EXPECT_FALSE(found()) << own.*field;
    code_.key = own;
  }
  code_.key.compiler_version = backend::compiler_name(backend_.name(), "99.0");
  EXPECT_TRUE(found()) << "the compiler's version alone may be another, as ever";
  EXPECT_FALSE(found(100)) << "another architecture";
}

TEST_F(Stored, WhatIsDamagedOrWithoutCodeIsNotTaken) {
  code_.executable.images.clear();
  EXPECT_FALSE(found());
  db::Cubin cubin;
  cubin.key = code_.key;
  cubin.image = "no executable";
  ASSERT_TRUE(database_->put_cubin(cubin).ok());
  EXPECT_FALSE(stored_code(wanted_, code_.key.hash(), &backend_, target::Target::gpu(90), *database_));
}

}  // namespace
}  // namespace rondo::engine
