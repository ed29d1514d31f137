// CREATE SEQUENCE, ALTER SEQUENCE.
#include "executor/ddl/sequence_options.h"

namespace pgsilo {

namespace {

class CreateSequence final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "CREATE SEQUENCE"; }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::CreateSequenceStmt>();
    NewSequence sequence;
    sequence.schema = run.schema_of(*syntax.sequence);
    sequence.name = syntax.sequence->name;
    if (syntax.sequence->persistence == ast::Persistence::temporary)
      sequence.persistence = RelationPersistence::temporary;
    if (syntax.sequence->persistence == ast::Persistence::unlogged)
      sequence.persistence = RelationPersistence::unlogged;
    SequenceClauses clauses = read_sequence_options(run, syntax.options);
    sequence.options = clauses.options;
    run.finish(run.definition().create_sequence(sequence, clauses.owner, syntax.if_not_exists));
  }
};

class AlterSequence final : public DdlCommand {
 public:
  using DdlCommand::DdlCommand;
  std::string_view tag() const override { return "ALTER SEQUENCE"; }

 private:
  void execute(DdlRun& run) const override {
    const auto& syntax = this->syntax<ast::AlterSequenceStmt>();
    const TableDescriptor* sequence = run.find_sequence(*syntax.sequence, syntax.missing_ok);
    if (sequence == nullptr) return;
    require_own_rows(run.catalog(), *sequence);
    Oid oid = sequence->oid;
    SequenceClauses clauses = read_sequence_options(run, syntax.options);
    run.finish(run.definition().alter_sequence(oid, clauses.options, clauses.owner));
  }
};

}  // namespace

std::unique_ptr<const UtilityCommand> make_create_sequence(const PlannedOwner& planned) {
  return std::make_unique<CreateSequence>(planned);
}

std::unique_ptr<const UtilityCommand> make_alter_sequence(const PlannedOwner& planned) {
  return std::make_unique<AlterSequence>(planned);
}

}  // namespace pgsilo
