#include "base/stack_trace.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace pgsilo {
namespace {

constexpr int most_frames = 64;

struct Free {
  void operator()(char* text) const { std::free(text); }
};

std::string hexadecimal(uintptr_t value) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[value % 16]);
    value /= 16;
  } while (value != 0);
  return "0x" + digits;
}

// By its place in the file if it has no name: for addr2line.
std::string describe(void* address) {
  Dl_info found{};
  if (dladdr(address, &found) == 0 || found.dli_fname == nullptr)
    return hexadecimal(reinterpret_cast<uintptr_t>(address));
  std::string file = found.dli_fname;
  file.erase(0, file.rfind('/') + 1);
  auto within = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(found.dli_fbase);
  std::string place = file + "+" + hexadecimal(within);
  if (found.dli_sname == nullptr) return place;
  return readable_name(found.dli_sname) + " (" + place + ")";
}

}  // namespace

std::string readable_name(const char* symbol) {
  int status = 0;
  std::unique_ptr<char, Free> name(abi::__cxa_demangle(symbol, nullptr, nullptr, &status));
  return name != nullptr ? name.get() : symbol;
}

std::string stack_trace(int skipped) {
  std::array<void*, most_frames> frames;
  int count = backtrace(frames.data(), most_frames);
  std::string text;
  for (int i = skipped + 1; i < count; ++i) {
    if (!text.empty()) text += '\n';
    text += describe(frames[static_cast<size_t>(i)]);
  }
  return text;
}

void print_stack_trace(int descriptor) {
  std::array<void*, most_frames> frames;
  int count = backtrace(frames.data(), most_frames);
  backtrace_symbols_fd(frames.data(), count, descriptor);
}

void prepare_stack_traces() {
  void* frame = nullptr;
  backtrace(&frame, 1);
}

}  // namespace pgsilo
