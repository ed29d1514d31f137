// COMMENT ON. A comment is a row of pg_description and nothing else: whoever asks for it reads the
// row (catalog/comments.h), and it goes with its object (CatalogWrite::remove_comments). Thread
// safety: none; one operation.
#pragma once

#include <string_view>

#include "catalog/definition/catalog_write.h"

namespace pgsilo {

class CommentSteps : CatalogWrite {
 public:
  explicit CommentSteps(DataDefinition& definition) : CatalogWrite(definition) {}

  void set_comment(const CommentAddress& of, std::string_view text);
};

}  // namespace pgsilo
