// What the process says when it has to stop where it stands: a failed PGSILO_CHECK, an exception
// that nobody caught, a signal that means a defect (SIGSEGV and its kin). On standard error: why,
// what was being run, and the stack. Then it ends by SIGABRT or by the signal, with a core file if
// the system writes one.
//
// Thread safety: any thread; the first one reports, the others wait for the end. What is called
// here allocates nothing, and takes no lock that it would have to wait for.
#pragma once

namespace pgsilo {

// Tells what runs, in lines. Called in a thread that may be in the middle of anything.
class CrashWitness {
 public:
  virtual void tell(int descriptor) const noexcept = 0;

 protected:
  ~CrashWitness() = default;
};

// Null: nobody knows.
void set_crash_witness(const CrashWitness* witness);

// Reports and stops the process.
[[noreturn]] void stop_process(const char* why) noexcept;

// From here on uncaught exceptions and signals are reported. Under a sanitizer signals stay its
// own.
void install_crash_reports();

// A thread's stack for reports of its signals: its own may be used up. For as long as it lives, in
// the thread that made it.
class CrashStack {
 public:
  CrashStack();
  ~CrashStack();
  CrashStack(const CrashStack&) = delete;
  CrashStack& operator=(const CrashStack&) = delete;

 private:
  void* memory_ = nullptr;
};

}  // namespace pgsilo
