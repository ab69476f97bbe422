// A process of a program, and what it prints.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/support/result.h"

namespace rondo::tuner {

// Owns a started process. One that still runs is killed and waited for when the object goes away.
class Child {
 public:
  // Starts `program` with these words behind its name, in a process group of its own, so that Ctrl-C at the
  // terminal goes to this process alone, and with no standard input. `variables` are set in its environment
  // beside those of this process. Error Missing where it cannot be started.
  static Result<Child> start(const std::string& program, const std::vector<std::string>& words,
                             const std::vector<std::pair<std::string, std::string>>& variables);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  // Takes what it printed, and waits about so long for more. False once it has ended and all is taken.
  bool wait(int milliseconds);
  // Asks it to stop (SIGINT), or stops it (SIGKILL).
  void interrupt() const;
  void kill() const;

  const std::string& out() const { return out_.text; }
  const std::string& err() const { return err_.text; }
  // After wait() gave false: the exit status, 128 + n where signal n ended it.
  int status() const { return status_; }

 private:
  struct Pipe {
    int end = -1;  // -1: closed
    std::string text = {};
    bool take();  // false where it was closed
  };

  Child() = default;
  bool reap(int how);  // false while it runs, where `how` does not wait

  pid_t process_ = -1;
  Pipe out_, err_;
  int status_ = 0;
};

}  // namespace rondo::tuner
