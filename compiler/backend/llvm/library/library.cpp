#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>

#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "compiler/backend/llvm/library/entry.h"

// The pieces of the targets that are built in; LLVM has no header for a target by itself.
#define RONDO_LLVM_TARGETS(of) of(NVPTX) of(X86) of(AArch64)
extern "C" {
#define RONDO_DECLARE(target)                \
  void LLVMInitialize##target##TargetInfo(); \
  void LLVMInitialize##target##Target();     \
  void LLVMInitialize##target##TargetMC();   \
  void LLVMInitialize##target##AsmPrinter();
RONDO_LLVM_TARGETS(RONDO_DECLARE)
#undef RONDO_DECLARE
}

namespace {

// Kernels are unrolled into long blocks, and LLVM recurses over them.
constexpr unsigned kStackBytes = 64u << 20;

// What a compilation that a fatal error ends leaves behind.
struct Outcome {
  std::string result, message;
  bool ok = false;
  bool no_memory = false;
};
thread_local Outcome* outcome_here = nullptr;  // of the thread's compilation

// LLVM ends the process after a fatal error, such as an instruction that the target cannot select. Here only
// the compilation ends.
void on_fatal_error(void*, const char* reason, bool) {
  if (outcome_here != nullptr) outcome_here->message = reason;
  if (llvm::CrashRecoveryContext* context = llvm::CrashRecoveryContext::GetCurrent()) context->HandleExit(70);
}

void on_no_memory(void*, const char*, bool) {
  if (outcome_here != nullptr) outcome_here->no_memory = true;
  if (llvm::CrashRecoveryContext* context = llvm::CrashRecoveryContext::GetCurrent()) context->HandleExit(71);
}

// Of this library's own operator new: nobody in LLVM would catch what it throws.
void on_no_memory_of_new() {
  on_no_memory(nullptr, nullptr, false);
  throw std::bad_alloc();
}

void initialise() {
  static std::once_flag once;
  std::call_once(once, [] {
#define RONDO_INITIALISE(target)        \
  LLVMInitialize##target##TargetInfo(); \
  LLVMInitialize##target##Target();     \
  LLVMInitialize##target##TargetMC();   \
  LLVMInitialize##target##AsmPrinter();
    RONDO_LLVM_TARGETS(RONDO_INITIALISE)
#undef RONDO_INITIALISE
    // There is no other way to say these. Addresses of shared memory have 32 bits. Instructions are ordered
    // for few registers, once as they are selected and once after (misched, which CPUs have by default), and
    // loops keep their indices: with as many pointers as there are accesses, which loop strength reduction
    // makes of them, kernels took up to 40% more registers, and some spilled. (With --pre-RA-sched=linearize,
    // the order as written, ptxas spills still less, but LLVM 22 ends with a fatal error for some kernels.)
    const char* options[] = {"rondo", "--nvptx-short-ptr", "--nvptx-sched4reg", "--enable-misched",
                             "--disable-lsr"};
    llvm::cl::ParseCommandLineOptions(std::size(options), options);
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::install_bad_alloc_error_handler(on_no_memory);
    std::set_new_handler(on_no_memory_of_new);
  });
}

// While one is alive, LLVM can end a compilation that it cannot finish. It takes handlers of the process's
// signals for that (SIGSEGV, SIGABRT and others), so the last one gives the program's own back.
class Recovery {
 public:
  Recovery() {
    const std::lock_guard lock(mutex_);
    if (users_++ == 0) llvm::CrashRecoveryContext::Enable();
  }
  ~Recovery() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) llvm::CrashRecoveryContext::Disable();
  }
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int users_ = 0;
};

// Errors that LLVM reports by the way, such as inline assembly that it cannot place.
struct Diagnostics final : llvm::DiagnosticHandler {
  explicit Diagnostics(std::string& into) : text(into) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream out(text);
    llvm::DiagnosticPrinterRawOStream printer(out);
    info.print(printer);
    out << "\n";
    return true;
  }
  std::string& text;
};

bool verifies(const llvm::Module& module, const char* when, std::string& message) {
  llvm::raw_string_ostream out(message);
  if (!llvm::verifyModule(module, &out)) return true;
  out << "the IR is not valid " << when;
  return false;
}

// Whether a pass runs. For a GPU nothing is moved out of loops, and nothing merged over blocks, before ptxas
// does so, which counts registers: LLVM has as many as it likes there, and an address that lives through a
// loop cost kernels of cells with matrices up to 1,152 bytes of spills. GVN still merges what it finds.
bool runs(llvm::StringRef pass, bool for_gpu) {
  return !for_gpu || !(pass.contains("LICMPass") || pass.contains("EarlyCSEPass"));
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [for_gpu = machine.getTargetTriple().isNVPTX()](llvm::StringRef pass, llvm::Any) {
        return runs(pass, for_gpu);
      });
  llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(), std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

std::unique_ptr<llvm::TargetMachine> machine_for(const rondo_llvm_request& request, std::string& message) {
  const llvm::Triple triple(request.triple);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (target == nullptr) return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, request.cpu, request.features, options, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (machine == nullptr) message = "LLVM has no machine for this target";
  return machine;
}

bool generate(llvm::Module& module, llvm::TargetMachine& machine, bool object, std::string& result,
              std::string& message) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  const auto kind = object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(passes, out, nullptr, kind, true)) {
    message = "this target cannot write such a file";
    return false;
  }
  passes.run(module);
  result.assign(bytes.begin(), bytes.end());
  return true;
}

bool compile_module(const rondo_llvm_request& request, std::string& result, std::string& message) {
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(message));
  llvm::SMDiagnostic fault;
  const std::unique_ptr<llvm::Module> module = llvm::parseIR(
      llvm::MemoryBufferRef(llvm::StringRef(request.ir, request.size), request.name), fault, context);
  if (module == nullptr) {
    llvm::raw_string_ostream out(message);
    fault.print("rondo", out, false);
    return false;
  }
  const std::unique_ptr<llvm::TargetMachine> machine = machine_for(request, message);
  if (machine == nullptr) return false;
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  if (!verifies(*module, "as it was written", message)) return false;
  if (request.optimise != 0) {
    optimise(*module, *machine);
    if (!verifies(*module, "after the passes", message)) return false;
  }
  if (request.print_ir != 0) {
    llvm::raw_string_ostream out(result);
    module->print(out, nullptr);
    return true;
  }
  return generate(*module, *machine, request.object != 0, result, message) && message.empty();
}

// In a thread whose stack is large; false where there is no memory for it. LLVM's own RunSafelyOnThread()
// would end the process then.
bool run_on_large_stack(void* (*work)(void*), void* argument) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_t thread{};
  const bool begun = pthread_attr_setstacksize(&attributes, kStackBytes) == 0 &&
                     pthread_create(&thread, &attributes, work, argument) == 0;
  pthread_attr_destroy(&attributes);
  return begun && pthread_join(thread, nullptr) == 0;
}

struct Work {
  const rondo_llvm_request& request;
  Outcome outcome;
};

void compile_safely(const rondo_llvm_request& request, Outcome& outcome) {
  llvm::CrashRecoveryContext context;
  outcome_here = &outcome;
  const bool whole =
      context.RunSafely([&] { outcome.ok = compile_module(request, outcome.result, outcome.message); });
  outcome_here = nullptr;
  outcome.ok = outcome.ok && whole;
  if (!whole && outcome.message.empty()) outcome.message = "LLVM stopped with a fatal error";
}

void* compile_in_thread(void* argument) {
  auto& [request, outcome] = *static_cast<Work*>(argument);
  try {
    compile_safely(request, outcome);
  } catch (const std::bad_alloc&) {  // before the context was there to be left, or after it
    outcome_here = nullptr;
    outcome.no_memory = true;
  }
  return nullptr;
}

void write(rondo_llvm_answer& answer, int status, const std::string& text) {
  answer.status = status;
  answer.bytes = static_cast<char*>(std::malloc(text.size() + 1));
  if (answer.bytes == nullptr) {
    answer.status = RONDO_LLVM_NO_MEMORY;
    return;
  }
  answer.size = text.size();
  std::memcpy(answer.bytes, text.c_str(), text.size() + 1);
}

void compile(const rondo_llvm_request* request, rondo_llvm_answer* answer) {
  *answer = {RONDO_LLVM_NO_MEMORY, nullptr, 0};
  try {
    initialise();
    const Recovery recovery;
    Work work{*request, {}};
    if (!run_on_large_stack(compile_in_thread, &work) || work.outcome.no_memory) return;
    const Outcome& outcome = work.outcome;
    write(*answer, outcome.ok ? RONDO_LLVM_OK : RONDO_LLVM_REJECTED,
          outcome.ok ? outcome.result : outcome.message);
  } catch (const std::bad_alloc&) {
    return;  // the answer says so
  }
}

void release(rondo_llvm_answer* answer) {
  std::free(answer->bytes);
  answer->bytes = nullptr;
  answer->size = 0;
}

constexpr rondo_llvm_interface kInterface = {RONDO_LLVM_INTERFACE, LLVM_VERSION_STRING,
                                             "nvptx64 x86_64 aarch64", &compile, &release};

}  // namespace

extern "C" const rondo_llvm_interface* rondo_llvm_entry(void) { return &kInterface; }
