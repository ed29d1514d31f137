// The seam through which bulk work of one transaction gets a second worker. storage owns it, the
// server implements it over its workers' fibers.
#pragma once

#include <memory>

namespace pgsilo {

class WorkerContext;
struct WaitSettings;

// Work that its owner does by itself, piece after piece, if nobody helps.
class SharedWork {
 public:
  virtual ~SharedWork() = default;
  // A bounded piece of it, on the thread of `worker`, perhaps waiting by `settings`. False: nothing
  // is left for the moment; whoever helped goes, and the work is offered again.
  virtual bool help(WorkerContext& worker, const WaitSettings& settings) noexcept = 0;
  // Who was to help cannot; the work may be offered again.
  virtual void decline() noexcept = 0;
};

class WorkSharing {
 public:
  virtual ~WorkSharing() = default;
  // Some worker other than the caller's is going to call help() until that returns false, or
  // decline(): soon, late, or (a server that stops) never. Throws std::bad_alloc.
  virtual void offer(std::shared_ptr<SharedWork> work) = 0;
};

}  // namespace pgsilo
