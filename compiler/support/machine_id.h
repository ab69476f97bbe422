// Which machine this is, told from others of its kind.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

// 16 hex digits over the system's machine-id(5) and what tells one kind of processor from another: vendor,
// family, model and stepping. Containers without a machine-id are told apart by their processor alone. The id
// itself is confidential, so only a hash of it leaves this function.
const std::string& machine_id();

// What runs below the instructions of the processor, as a driver does below those of a GPU: "microcode
// 0xd0003f5",
// "" where the system does not say.
std::string processor_microcode();

// The same of texts as the system gives them: of machine-id(5), and of /proc/cpuinfo, whose first processor
// counts.
std::string machine_id_of(std::string_view machine, std::string_view processors);
std::string microcode_of(std::string_view processors);

}  // namespace rondo
