// A reader with a planted mistake: it trusts a length. A campaign that does not find it proves
// nothing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4 || data[0] != 'C' || data[1] != 'A') return 0;
  if (data[2] == 'N' && data[3] >= size) std::abort();
  return 0;
}
