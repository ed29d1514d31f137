#include "wal/log/block_payload.h"

#include <span>

#include "base/byte_order.h"

namespace pgsilo {

using log_format::block_header_bytes;
using log_format::block_unit;
using log_format::raw_size_bytes;
using log_format::round_up;

std::string_view PayloadPacker::pack(std::string_view payload, size_t trailer_bytes) {
  size_t around = block_header_bytes + trailer_bytes;
  size_t worthwhile = round_up(around + payload.size()) - block_unit;
  if (worthwhile < around + raw_size_bytes) return {};
  size_t room = worthwhile - around - raw_size_bytes;
  char* to = packed_.get();
  size_t bytes = compressor_.compress(payload, std::span(to + raw_size_bytes, room));
  if (bytes == 0) return {};
  store_le32(to, static_cast<uint32_t>(payload.size()));
  return {to, raw_size_bytes + bytes};
}

std::optional<std::string_view> PayloadReader::read(const BlockView& block) {
  if (block.header.compression == BlockCompression::none) return block.stored;
  if (raw_ == nullptr) raw_ = allocate_aligned(log_format::max_block_bytes(SIZE_MAX));
  std::span<char> raw(raw_.get(), block.payload_bytes);
  if (!decompress(block.stored.substr(raw_size_bytes), raw)) return std::nullopt;
  return std::string_view(raw.data(), raw.size());
}

}  // namespace pgsilo
