#include "wal/log/block_payload.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/byte_order.h"
#include "base/checksum.h"
#include "base/random.h"

namespace pgsilo {
namespace {

const BlockPlace place{.log = {1, 2}, .segment = 3, .offset = 8192};
constexpr size_t segment_bytes = size_t{1} << 20;
constexpr size_t at_version = 12;
constexpr size_t at_compression = 15;

std::string noise(size_t bytes) {
  Random random(1);
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(random.next());
  return text;
}

// The bytes of a block with the payload compressed, or "" where that is not worth it.
std::string packed_block(std::string_view payload, const BatchTrailer* trailer = nullptr) {
  PayloadPacker packer(log_format::max_block_bytes(segment_bytes));
  size_t trailer_bytes =
      trailer == nullptr ? 0 : log_format::trailer_bytes(trailer->last_data.size());
  std::string_view stored = packer.pack(payload, trailer_bytes);
  if (stored.empty()) return "";
  BlockHeader header;
  header.compression = BlockCompression::lz4;
  std::string block(log_format::max_block_bytes(segment_bytes), '\0');
  std::memcpy(block.data() + log_format::block_header_bytes, stored.data(), stored.size());
  block.resize(seal_block(block.data(), place, header, stored.size(), trailer));
  return block;
}

void seal_again(std::string& block) {
  size_t header = block[at_version] < log_format::first_itemized_version
                      ? log_format::fixed_header_bytes
                      : log_format::block_header_bytes;
  size_t content = header + load_le32(block.data() + 48) + load_le32(block.data() + 52);
  store_le64(block.data(), checksum64(block.data() + 8, content - 8));
}

TEST(BlockPayload, ComesBack) {
  std::string payload = std::string(30'000, 'a') + noise(9000) + std::string(10'000, 'b');
  BatchTrailer trailer{.complete = Epoch(9), .last_data = {Epoch(4), Epoch(9)}};
  std::string block = packed_block(payload, &trailer);
  EXPECT_EQ(block.size(), 3 * log_format::block_unit);
  std::optional<BlockView> view = open_block(block, place);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->header.compression, BlockCompression::lz4);
  EXPECT_EQ(view->payload_bytes, payload.size());
  EXPECT_EQ(view->bytes, block.size());
  EXPECT_EQ(view->trailer->complete, Epoch(9));
  PayloadReader reader;
  EXPECT_EQ(reader.read(*view), payload);
}

TEST(BlockPayload, IsStoredAsItIsUnlessAUnitIsSaved) {
  EXPECT_EQ(packed_block(""), "");
  EXPECT_EQ(packed_block(std::string(log_format::block_unit - log_format::block_header_bytes, 'x')),
            "");  // a unit already
  EXPECT_NE(packed_block(std::string(log_format::block_unit, 'x')), "");
  EXPECT_EQ(packed_block(noise(100'000)), "");
  // Noise that fills two units, and what more there is of it: a third unit only for that.
  size_t around = log_format::block_header_bytes + log_format::raw_size_bytes;
  EXPECT_EQ(packed_block(noise(2 * log_format::block_unit - around) + std::string(90, 'x')), "");
  EXPECT_NE(packed_block(noise(2 * log_format::block_unit - around - 200) + std::string(400, 'x')),
            "");
}

TEST(BlockPayload, NeverMakesABlockLonger) {
  Random random(2);
  std::string all = noise(70'000);
  for (int round = 0; round < 2000; ++round) {
    std::string payload = all.substr(0, random.below(9000));
    payload.append(random.below(9000), 'x');
    BatchTrailer trailer{.complete = Epoch(9), .last_data = {Epoch(4), Epoch(9)}};
    std::string block = packed_block(payload, &trailer);
    if (block.empty()) continue;
    EXPECT_LE(block.size() + log_format::block_unit,
              log_format::round_up(log_format::block_header_bytes + payload.size() +
                                   log_format::trailer_bytes(2)));
    std::optional<BlockView> view = open_block(block, place);
    ASSERT_TRUE(view.has_value());
    PayloadReader reader;
    ASSERT_EQ(reader.read(*view), payload);
  }
}

TEST(BlockPayload, AnUncompressedOneIsNotCopied) {
  std::string block(log_format::block_unit, '\0');
  std::memcpy(block.data() + log_format::block_header_bytes, "payload", 7);
  seal_block(block.data(), place, {}, 7, nullptr);
  PayloadReader reader;
  std::optional<std::string_view> payload = reader.read(*open_block(block, place));
  EXPECT_EQ(payload, "payload");
  EXPECT_EQ(payload->data(), block.data() + log_format::block_header_bytes);
}

TEST(BlockPayload, TheOlderVersionKnowsNoCompression) {
  std::string block = packed_block(std::string(20'000, 'x'));
  block[at_version] = 1;
  seal_again(block);
  EXPECT_FALSE(open_block(block, place).has_value());
  block[at_compression] = 0;
  seal_again(block);
  EXPECT_TRUE(open_block(block, place).has_value());
  block[at_version] = log_format::version + 1;
  seal_again(block);
  EXPECT_FALSE(open_block(block, place).has_value());
}

// With checksums that are right: what no writer made.
TEST(BlockPayload, WrongOnesAreRefused) {
  std::string whole = packed_block(std::string(20'000, 'x') + noise(3000));
  char* raw_size = whole.data() + log_format::block_header_bytes;
  for (uint32_t claimed : {0u, 22'999u, 23'001u, uint32_t{1} << 20, UINT32_MAX}) {
    store_le32(raw_size, claimed);
    seal_again(whole);
    std::optional<BlockView> view = open_block(whole, place);
    EXPECT_EQ(view.has_value(), claimed < uint32_t{1} << 20) << claimed;
    PayloadReader reader;
    if (view) {
      EXPECT_FALSE(reader.read(*view).has_value()) << claimed;
    }
  }
  store_le32(raw_size, 23'000);
  whole[at_compression] = 2;
  seal_again(whole);
  EXPECT_FALSE(open_block(whole, place).has_value());
  // Shorter than the size it must begin with.
  std::string block(log_format::block_unit, '\0');
  BlockHeader header;
  header.compression = BlockCompression::lz4;
  seal_block(block.data(), place, header, log_format::raw_size_bytes - 1, nullptr);
  EXPECT_FALSE(open_block(block, place).has_value());
}

}  // namespace
}  // namespace pgsilo
