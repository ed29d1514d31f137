#include "sql/internal_error.h"

#include <cxxabi.h>

#include <new>
#include <string>
#include <typeinfo>

#include "base/memory_budget.h"
#include "base/stack_trace.h"
#include "sql/memory_error.h"

namespace pgsilo {
namespace {

SqlError internal_error(std::string message, std::string for_log) {
  SqlError error(sqlstate::internal_error, std::move(message));
  error.amend().log_detail = std::move(for_log);
  return error;
}

}  // namespace

void requirement_failed(const char* expression, const char* file, int line) {
  throw internal_error(concat("check failed: ", expression),
                       concat("at ", file, ":", line, "\n", stack_trace(/*skipped=*/1)));
}

SqlError error_of_current_exception() {
  try {
    throw;
  } catch (const SqlError& error) {
    return error;
  } catch (const MemoryLimitReached&) {
    return memory_limit_error();
  } catch (const std::bad_alloc&) {
    return SqlError(sqlstate::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    return internal_error(concat("unexpected exception: ", error.what()),
                          readable_name(typeid(error).name()));
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    return internal_error("unexpected exception",
                          type != nullptr ? readable_name(type->name()) : std::string());
  }
}

}  // namespace pgsilo
