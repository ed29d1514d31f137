// The fixed beginning of a LIKE pattern, as a range of text in byte order.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace pgsilo {

struct LikePrefix {
  std::string text;  // every match begins with it; empty: nothing is fixed
  std::string end;   // the least text above all that begin with it; empty: there is none
};

LikePrefix like_prefix(std::string_view pattern);

}  // namespace pgsilo
