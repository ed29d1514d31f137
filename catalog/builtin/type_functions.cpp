#include "catalog/builtin/type_functions.h"

#include <algorithm>
#include <iterator>

namespace pgsilo {

namespace {

constexpr TypeFunctions functions[] = {
#define TYPE_FUNCTIONS(type, input, output, receive, send, modifier_in, modifier_out, analyze, \
                       subscript, operator_class)                                              \
  {type,        input,        output,  receive,   send,                                        \
   modifier_in, modifier_out, analyze, subscript, operator_class},
#include "catalog/builtin/type_functions.def"
#undef TYPE_FUNCTIONS
};
constexpr TypeFunctions nothing{};

}  // namespace

const TypeFunctions& type_functions(Oid type) {
  auto found =
      std::lower_bound(std::begin(functions), std::end(functions), type,
                       [](const TypeFunctions& entry, Oid wanted) { return entry.type < wanted; });
  return found != std::end(functions) && found->type == type ? *found : nothing;
}

}  // namespace pgsilo
