#include "base/compression.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"

namespace pgsilo {
namespace {

// Text of repetitions and noise: the larger `noise`, the worse it can be compressed.
std::string some_text(Random& random, size_t bytes, uint64_t noise) {
  std::string text;
  while (text.size() < bytes) {
    if (random.below(10) < noise || text.size() < 8) {
      for (int i = 0; i < 8; ++i) text += static_cast<char>(random.next());
    } else {
      text += text.substr(random.below(text.size()), 1 + random.below(40));
    }
  }
  text.resize(bytes);
  return text;
}

// On the heap without a byte to spare, so that AddressSanitizer sees each byte read or written
// outside; with a guard, so that writes show without it, too.
class ExactBytes {
 public:
  explicit ExactBytes(size_t bytes) : size_(bytes), bytes_(new char[bytes + guard]) {
    std::fill(bytes_.get(), bytes_.get() + bytes + guard, mark);
  }
  explicit ExactBytes(std::string_view content) : ExactBytes(content.size()) {
    std::copy(content.begin(), content.end(), bytes_.get());
  }
  std::span<char> span() { return {bytes_.get(), size_}; }
  std::string_view view() const { return {bytes_.get(), size_}; }
  bool guarded() const {
    for (size_t i = size_; i < size_ + guard; ++i) {
      if (bytes_[i] != mark) return false;
    }
    return true;
  }

 private:
#ifdef __SANITIZE_ADDRESS__
  static constexpr size_t guard = 0;
#else
  static constexpr size_t guard = 64;
#endif
  static constexpr char mark = '\x5a';
  size_t size_;
  std::unique_ptr<char[]> bytes_;
};

TEST(Compression, RoundTrip) {
  Random random(1);
  Compressor compressor;
  for (size_t bytes : {0, 1, 11, 12, 13, 100, 4096, 65'535, 65'536, 70'000, 1 << 20}) {
    for (uint64_t noise : {0, 3, 10}) {
      std::string raw = some_text(random, bytes, noise);
      std::string packed(raw.size() + raw.size() / 200 + 16, '\0');
      size_t size = compressor.compress(raw, packed);
      ASSERT_GT(size, 0u) << bytes;
      if (noise == 0 && bytes >= 4096) {
        EXPECT_LT(size, raw.size() / 4 * 3);
      }
      std::string back(raw.size(), '\0');
      EXPECT_TRUE(decompress(std::string_view(packed).substr(0, size), back));
      EXPECT_EQ(back, raw);
    }
  }
}

TEST(Compression, GivesUpWhereItDoesNotFitAndWritesNothingOutside) {
  Random random(2);
  Compressor compressor;
  std::string raw = some_text(random, 20'000, 3);
  std::string packed(raw.size(), '\0');
  size_t needed = compressor.compress(raw, packed);
  ASSERT_GT(needed, 0u);
  for (size_t room = 0; room < needed; room += 1 + room / 7) {
    ExactBytes to(room);
    EXPECT_EQ(compressor.compress(raw, to.span()), 0u) << room;
    EXPECT_TRUE(to.guarded()) << room;
  }
  std::string noise = some_text(random, 20'000, 10);
  EXPECT_EQ(compressor.compress(noise, std::span(packed).first(noise.size() - 1)), 0u);
}

TEST(Compression, AnotherSizeIsRefused) {
  Random random(3);
  Compressor compressor;
  std::string raw = some_text(random, 5000, 4);
  std::string packed(6000, '\0');
  packed.resize(compressor.compress(raw, packed));
  for (size_t bytes : {0, 1, 4095, 4999, 5001, 9000}) {
    ExactBytes to(bytes);
    EXPECT_FALSE(decompress(packed, to.span())) << bytes;
    EXPECT_TRUE(to.guarded());
  }
  std::string empty;
  EXPECT_FALSE(decompress("", std::span<char>(packed)));
  EXPECT_FALSE(decompress("", empty));  // nothing compressed is a byte
}

// Bytes that were changed, cut off or invented either fill the buffer or are refused.
TEST(Compression, DamageStaysInside) {
  Random random(4);
  Compressor compressor;
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string raw = some_text(random, 1 + random.below(600), random.below(11));
    std::string packed(raw.size() + 64, '\0');
    packed.resize(compressor.compress(raw, packed));
    switch (random.below(4)) {
      case 0:
        packed.resize(random.below(packed.size() + 1));
        break;
      case 1:
        for (char& byte : packed) byte = static_cast<char>(random.next());
        break;
      default:
        for (uint64_t i = 0; i <= random.below(4); ++i)
          packed[random.below(packed.size())] = static_cast<char>(random.next());
    }
    ExactBytes from(packed);
    ExactBytes to(random.one_in(2) ? raw.size() : random.below(1200));
    refused += decompress(from.view(), to.span()) ? 0 : 1;
    ASSERT_TRUE(to.guarded()) << round;
  }
  EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace pgsilo
