// The whole syntax tree. Include the narrower header where one is enough.
#pragma once

#include "sql/ast/ddl.h"          // IWYU pragma: export
#include "sql/ast/expressions.h"  // IWYU pragma: export
#include "sql/ast/node.h"         // IWYU pragma: export
#include "sql/ast/query.h"        // IWYU pragma: export
#include "sql/ast/utility.h"      // IWYU pragma: export
