// What an index keeps of a row where that is more than columns: values of expressions, and whether
// it has the row at all (WHERE). Expressions are run by the executor, which the catalog does not
// know: whoever opens the database tells it how (Catalog::use_index_evaluators). All that is
// computed is immutable, so the same row always has the same entry.
// Thread safety: none; one owner each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "catalog/descriptors.h"

namespace pgsilo {

class ByteBuffer;
class CatalogView;
struct TypeContext;

class IndexEvaluator {
 public:
  virtual ~IndexEvaluator() = default;
  // `row` has all columns of the table. *key: the values of the index's columns, in order, until
  // the next call. False: the index does not have the row.
  virtual bool evaluate(std::span<const Datum> row, std::span<const Datum>* key) = 0;
  // As messages show the columns: "lower(a), b".
  virtual std::string column_names(const TypeContext& types) = 0;
};

// Of an index that computes. The view finds the types that the expressions name.
using MakeIndexEvaluator = std::unique_ptr<IndexEvaluator> (*)(CatalogView& view,
                                                               const TableDescriptor& table,
                                                               const IndexDescriptor& index);

// Keys of entries, for who has rows as they are stored.
class IndexEntries {
 public:
  // `evaluator`: null where the index computes nothing. References outlive the object.
  IndexEntries(const TableDescriptor& table, const IndexDescriptor& index,
               std::unique_ptr<IndexEvaluator> evaluator)
      : table_(table),
        index_(index),
        evaluator_(std::move(evaluator)),
        values_(evaluator_ != nullptr ? table.columns.size() : 0) {}

  // Appends the key of the row's entry. False: it has none.
  bool encode(std::string_view row, std::string_view primary_key, ByteBuffer& out);
  // "(lower(a), b)=(x, 1)", of a row that has an entry.
  std::string shown_key(std::string_view row, const TypeContext& types);

 private:
  bool evaluate(std::string_view row, std::span<const Datum>* key);

  const TableDescriptor& table_;
  const IndexDescriptor& index_;
  std::unique_ptr<IndexEvaluator> evaluator_;
  std::vector<Datum> values_;
  Arena padding_;
};

}  // namespace pgsilo
