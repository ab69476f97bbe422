// LLVM as a library opened at run time: what it gives, and what it says of what it cannot compile.
#include "compiler/backend/llvm/llvm.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <thread>
#include <vector>

#include "compiler/backend/llvm/llvm_backend.h"
#include "compiler/backend/ptxas/assembler.h"
#include "compiler/backend/ptxas/nvjitlink.h"
#include "compiler/backend/ptxas/ptxas.h"
#include "compiler/backend/ptxas/ptxas_log.h"
#include "tests/backend/cuda/kernels.h"
#include "tests/support/turns.h"

namespace rondo::backend {
namespace {

#ifdef RONDO_BUILT_LLVM
constexpr const char* kStore = R"(define ptx_kernel void @store(ptr addrspace(1) %x) {
  store i32 7, ptr addrspace(1) %x
  ret void
}
)";

LlvmMachine machine(int capability = 90, bool specific = false) {
  return nvptx_machine(target::Target{target::Target::Kind::Gpu, capability, specific});
}
#endif

TEST(LlvmOpen, SaysWhatIsMissing) {
  const auto hidden = Llvm::open("none");
  ASSERT_FALSE(hidden.ok());
  EXPECT_EQ(hidden.error().kind, ErrorKind::Missing);
  EXPECT_NE(hidden.error().message.find("RONDO_LLVM=none"), std::string::npos);
  const auto nowhere = Llvm::open("/nowhere");
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().kind, ErrorKind::Missing);
  EXPECT_NE(nowhere.error().message.find("/nowhere"), std::string::npos) << nowhere.error().message;
  EXPECT_NE(nowhere.error().hint.find("RONDO_LLVM"), std::string::npos);
  const auto other = Llvm::open("libm.so.6");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(other.error().message.find("another version of Rondo"), std::string::npos)
      << other.error().message;
}

#ifdef RONDO_BUILT_LLVM
class LlvmLibrary : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto found = Llvm::get();
    ASSERT_TRUE(found.ok()) << found.error().message;
    llvm_ = *found;
  }
  std::string error_of(const std::string& ir, const LlvmMachine& for_machine) const {
    const auto compiled = llvm_->compile(ir, "text.ll", for_machine, LlvmOutput::Assembly);
    if (compiled) return "compiled";
    EXPECT_TRUE(compiled.error().kind == ErrorKind::Compile ||
                compiled.error().kind == ErrorKind::Unsupported);
    return compiled.error().message;
  }
  const Llvm* llvm_ = nullptr;
};

TEST_F(LlvmLibrary, MakesPtx) {
  EXPECT_GE(std::stoi(llvm_->version()), 22);
  const auto ptx = llvm_->compile(kStore, "text.ll", machine(), LlvmOutput::Assembly);
  ASSERT_TRUE(ptx.ok()) << ptx.error().message;
  EXPECT_NE(ptx->find(".version 8.1\n.target sm_90\n"), std::string::npos) << *ptx;
  EXPECT_NE(ptx->find(".visible .entry store("), std::string::npos) << *ptx;
  const auto optimised = llvm_->compile(kStore, "text.ll", machine(), LlvmOutput::OptimisedIr);
  ASSERT_TRUE(optimised.ok()) << optimised.error().message;
  EXPECT_NE(optimised->find("define ptx_kernel void @store"), std::string::npos) << *optimised;
}

TEST_F(LlvmLibrary, RefusesWhatIsNoIr) {
  EXPECT_NE(error_of("define void @f() {\n  %x = nonsense i32 1\n  ret void\n}\n", machine())
                .find("text.ll:2:8: error"),
            std::string::npos);
  // Text that reads well and breaks a rule is the verifier's.
  const std::string unused = error_of(
      "define ptx_kernel void @f() {\n  br label %b\na:\n  %x = add i32 1, 2\n  ret void\nb:\n  %y = add i32 "
      "%x, 1\n"
      "  ret void\n}\n",
      machine());
  EXPECT_NE(unused.find("does not dominate all uses"), std::string::npos) << unused;
  EXPECT_NE(unused.find("as it was written"), std::string::npos) << unused;
}

// LLVM would end the process.
TEST_F(LlvmLibrary, SurvivesWhatTheTargetCannotDo) {
  const std::string cluster =
      "define ptx_kernel void @f() {\n  call void @llvm.nvvm.barrier.cluster.arrive.aligned()\n  ret "
      "void\n}\n";
  EXPECT_EQ(error_of(cluster, machine(90)), "compiled");
  for (int again = 0; again < 2; ++again) {
    const std::string refused = error_of(cluster, machine(80));
    EXPECT_NE(refused.find("Cannot select"), std::string::npos) << refused;
  }
  EXPECT_EQ(error_of(kStore, machine(80)), "compiled");
  const std::string elsewhere = error_of(kStore, {"riscv64-unknown-linux", "generic", ""});
  EXPECT_NE(elsewhere.find("is built without riscv64; it has nvptx64"), std::string::npos) << elsewhere;
}

// A program may have handlers of its own, a crash reporter's for instance.
TEST_F(LlvmLibrary, LeavesTheProgramsSignalsAsTheyWere) {
  const auto handler_of = [](int signal) {
    struct sigaction now = {};
    EXPECT_EQ(sigaction(signal, nullptr, &now), 0);
    return reinterpret_cast<std::uintptr_t>(now.sa_sigaction);
  };
  const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
  std::vector<std::uintptr_t> before, after;
  for (const int signal : signals) before.push_back(handler_of(signal));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&] { EXPECT_EQ(error_of(kStore, machine()), "compiled"); });
  for (std::thread& thread : threads) thread.join();
  for (const int signal : signals) after.push_back(handler_of(signal));
  EXPECT_EQ(after, before);
}

TEST_F(LlvmLibrary, CompilesInSeveralThreads) {
  const kernel::Kernel kernel = cuda::testing::every_op(kernel::Math::Accurate);
  const Request request = request_for(llvm_backend(), {&kernel}, target::Target::gpu(90), "every_op");
  const std::string alone = llvm_backend().assembly(request).value();
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (std::string& text : texts)
    threads.emplace_back([&] { text = llvm_backend().assembly(request).value(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) EXPECT_EQ(text, alone);
}

// Every sample kernel, for all architectures that have what it needs.
TEST_F(LlvmLibrary, SampleKernels) {
#ifdef RONDO_NVCC
  const auto ptxas = Ptxas::get();
  ASSERT_TRUE(ptxas.ok()) << ptxas.error().message;
  const auto linker = NvJitLink::get();
  ASSERT_TRUE(linker.ok()) << linker.error().message;
#endif
  int number = 0;
  for (const cuda::testing::Sample& sample : cuda::testing::samples())
    for (const int capability : {80, 86, 89, 90, 100, 103, 120, 121}) {
      if (capability < sample.from || !rondo::testing::has_turn(number++)) continue;
      SCOPED_TRACE(sample.name + " " + std::to_string(capability));
      const Request request =
          request_for(llvm_backend(), {&sample.kernel}, target::Target::gpu(capability), sample.name);
      const auto ptx = llvm_backend().assembly(request);
      ASSERT_TRUE(ptx.ok()) << ptx.error().message;
#ifdef RONDO_NVCC
      const auto assembled = (*ptxas)->assemble(*ptx, request.target.name());
      ASSERT_TRUE(assembled.ok()) << assembled.error().message;
      const auto resources = read_ptxas_log(assembled->log);
      ASSERT_EQ(resources.size(), 1U) << assembled->log;
      EXPECT_EQ(resources[0].name, sample.kernel.name);
      EXPECT_FALSE(resources[0].spills());
      EXPECT_EQ(resources[0].stack_bytes, 0) << "a register array that became memory";
      EXPECT_EQ(assembled->log.find("serialized"), std::string::npos) << assembled->log;
      // The library assembles it too; it links, so the kernel may take some registers more or less.
      const auto linked = (*linker)->assemble(*ptx, request.target.name());
      ASSERT_TRUE(linked.ok()) << linked.error().message;
      EXPECT_EQ(linked->cubin.substr(1, 3), "ELF");
      auto same = read_ptxas_log(linked->log);
      ASSERT_EQ(same.size(), 1U) << linked->log;
      EXPECT_GT(same[0].registers, 0);
      same[0].registers = resources[0].registers;
      EXPECT_EQ(same, resources) << linked->log << assembled->log;
#endif
    }
}

TEST_F(LlvmLibrary, AnImageAndItsResources) {
  const kernel::Kernel kernel = cuda::testing::axpy();
  const auto compiled =
      llvm_backend().compile(request_for(llvm_backend(), {&kernel}, target::Target::gpu(90), "axpy"));
  ASSERT_TRUE(compiled.ok()) << compiled.error().message;
  EXPECT_EQ(backend_of_compiler(compiled->image.compiler), "llvm");
  EXPECT_EQ(compiled->image.target, "sm_90");
  ASSERT_EQ(compiled->image.resources.size(), 1U);
  EXPECT_EQ(compiled->image.resources[0].name, "axpy");
  EXPECT_EQ(compiled->image.kind == executable::ImageKind::Cubin, assembler_name() != "driver");
  EXPECT_NE(compiled->image.compiler.find(assembler_name()), std::string::npos) << compiled->image.compiler;
  const auto refused =
      llvm_backend().compile(request_for(llvm_backend(), {&kernel}, target::Target::gpu(70), "axpy"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(refused.error().message.find("does not compile for sm_70"), std::string::npos);
}

#endif  // RONDO_BUILT_LLVM

}  // namespace
}  // namespace rondo::backend
