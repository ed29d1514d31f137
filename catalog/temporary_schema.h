// The schema for what a session makes temporarily, pg_temp_N (docs/temporary_objects.md). The
// number is taken with the first object and given back when the session is over.
#pragma once

#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace pgsilo {

class CatalogSnapshot;

// Which numbers sessions have. Thread safety: any thread.
class TemporaryNumbers {
 public:
  // The newest, and the one that the session works with: in an older one there may be what another
  // session has left and taken away since.
  using Snapshots = std::initializer_list<std::shared_ptr<const CatalogSnapshot>>;
  // The least one that nobody has; nor does any of the snapshots show anything left in its schema.
  unsigned take(Snapshots snapshots);
  void give_back(unsigned number);

 private:
  std::mutex mutex_;
  std::vector<bool> taken_;  // [0]: number 1
};

// One session's. Thread safety: none; goes along with the session.
class TemporarySchema {
 public:
  TemporarySchema() = default;
  TemporarySchema(TemporarySchema&& other) noexcept { *this = std::move(other); }
  TemporarySchema& operator=(TemporarySchema&& other) noexcept;
  ~TemporarySchema();

  // What the name stands for in this session where a schema is written.
  static constexpr std::string_view alias = "pg_temp";
  static bool is_name(std::string_view schema);

  bool is_taken() const { return numbers_ != nullptr; }
  void take(TemporaryNumbers& numbers, TemporaryNumbers::Snapshots snapshots);
  // "pg_temp_3"; empty: no number is taken.
  const std::string& name() const { return name_; }
  // 3; 0 likewise.
  unsigned number() const { return number_; }

 private:
  TemporaryNumbers* numbers_ = nullptr;
  unsigned number_ = 0;
  std::string name_;
};

}  // namespace pgsilo
