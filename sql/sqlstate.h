// PostgreSQL 15's SQLSTATEs by its condition names (Appendix A of its manual). The whole list, so
// that no place spells a code as a literal.
#pragma once

#include <string_view>

namespace pgsilo {

// Five characters; the first two are the class.
class SqlState {
 public:
  constexpr explicit SqlState(const char (&code)[6])
      : code_{code[0], code[1], code[2], code[3], code[4]} {}
  constexpr std::string_view text() const { return {code_, 5}; }
  constexpr std::string_view condition_class() const { return {code_, 2}; }
  friend constexpr bool operator==(const SqlState& left, const SqlState& right) {
    return left.text() == right.text();
  }

 private:
  char code_[5];
};

namespace sqlstate {

// Class 00 - Successful Completion
inline constexpr SqlState successful_completion{"00000"};

// Class 01 - Warning
inline constexpr SqlState warning{"01000"};
inline constexpr SqlState warning_dynamic_result_sets_returned{"0100C"};
inline constexpr SqlState warning_implicit_zero_bit_padding{"01008"};
inline constexpr SqlState warning_null_value_eliminated_in_set_function{"01003"};
inline constexpr SqlState warning_privilege_not_granted{"01007"};
inline constexpr SqlState warning_privilege_not_revoked{"01006"};
inline constexpr SqlState warning_string_data_right_truncation{"01004"};
inline constexpr SqlState warning_deprecated_feature{"01P01"};

// Class 02 - No Data (this is also a warning class per the SQL standard)
inline constexpr SqlState no_data{"02000"};
inline constexpr SqlState no_additional_dynamic_result_sets_returned{"02001"};

// Class 03 - SQL Statement Not Yet Complete
inline constexpr SqlState sql_statement_not_yet_complete{"03000"};

// Class 08 - Connection Exception
inline constexpr SqlState connection_exception{"08000"};
inline constexpr SqlState connection_does_not_exist{"08003"};
inline constexpr SqlState connection_failure{"08006"};
inline constexpr SqlState sqlclient_unable_to_establish_sqlconnection{"08001"};
inline constexpr SqlState sqlserver_rejected_establishment_of_sqlconnection{"08004"};
inline constexpr SqlState transaction_resolution_unknown{"08007"};
inline constexpr SqlState protocol_violation{"08P01"};

// Class 09 - Triggered Action Exception
inline constexpr SqlState triggered_action_exception{"09000"};

// Class 0A - Feature Not Supported
inline constexpr SqlState feature_not_supported{"0A000"};

// Class 0B - Invalid Transaction Initiation
inline constexpr SqlState invalid_transaction_initiation{"0B000"};

// Class 0F - Locator Exception
inline constexpr SqlState locator_exception{"0F000"};
inline constexpr SqlState invalid_locator_specification{"0F001"};

// Class 0L - Invalid Grantor
inline constexpr SqlState invalid_grantor{"0L000"};
inline constexpr SqlState invalid_grant_operation{"0LP01"};

// Class 0P - Invalid Role Specification
inline constexpr SqlState invalid_role_specification{"0P000"};

// Class 0Z - Diagnostics Exception
inline constexpr SqlState diagnostics_exception{"0Z000"};
inline constexpr SqlState stacked_diagnostics_accessed_without_active_handler{"0Z002"};

// Class 20 - Case Not Found
inline constexpr SqlState case_not_found{"20000"};

// Class 21 - Cardinality Violation
inline constexpr SqlState cardinality_violation{"21000"};

// Class 22 - Data Exception
inline constexpr SqlState data_exception{"22000"};
inline constexpr SqlState array_element_error{"2202E"};
inline constexpr SqlState array_subscript_error{"2202E"};
inline constexpr SqlState character_not_in_repertoire{"22021"};
inline constexpr SqlState datetime_field_overflow{"22008"};
inline constexpr SqlState datetime_value_out_of_range{"22008"};
inline constexpr SqlState division_by_zero{"22012"};
inline constexpr SqlState error_in_assignment{"22005"};
inline constexpr SqlState escape_character_conflict{"2200B"};
inline constexpr SqlState indicator_overflow{"22022"};
inline constexpr SqlState interval_field_overflow{"22015"};
inline constexpr SqlState invalid_argument_for_log{"2201E"};
inline constexpr SqlState invalid_argument_for_ntile{"22014"};
inline constexpr SqlState invalid_argument_for_nth_value{"22016"};
inline constexpr SqlState invalid_argument_for_power_function{"2201F"};
inline constexpr SqlState invalid_argument_for_width_bucket_function{"2201G"};
inline constexpr SqlState invalid_character_value_for_cast{"22018"};
inline constexpr SqlState invalid_datetime_format{"22007"};
inline constexpr SqlState invalid_escape_character{"22019"};
inline constexpr SqlState invalid_escape_octet{"2200D"};
inline constexpr SqlState invalid_escape_sequence{"22025"};
inline constexpr SqlState nonstandard_use_of_escape_character{"22P06"};
inline constexpr SqlState invalid_indicator_parameter_value{"22010"};
inline constexpr SqlState invalid_parameter_value{"22023"};
inline constexpr SqlState invalid_preceding_or_following_size{"22013"};
inline constexpr SqlState invalid_regular_expression{"2201B"};
inline constexpr SqlState invalid_row_count_in_limit_clause{"2201W"};
inline constexpr SqlState invalid_row_count_in_result_offset_clause{"2201X"};
inline constexpr SqlState invalid_tablesample_argument{"2202H"};
inline constexpr SqlState invalid_tablesample_repeat{"2202G"};
inline constexpr SqlState invalid_time_zone_displacement_value{"22009"};
inline constexpr SqlState invalid_use_of_escape_character{"2200C"};
inline constexpr SqlState most_specific_type_mismatch{"2200G"};
inline constexpr SqlState null_value_not_allowed{"22004"};
inline constexpr SqlState null_value_no_indicator_parameter{"22002"};
inline constexpr SqlState numeric_value_out_of_range{"22003"};
inline constexpr SqlState sequence_generator_limit_exceeded{"2200H"};
inline constexpr SqlState string_data_length_mismatch{"22026"};
inline constexpr SqlState string_data_right_truncation{"22001"};
inline constexpr SqlState substring_error{"22011"};
inline constexpr SqlState trim_error{"22027"};
inline constexpr SqlState unterminated_c_string{"22024"};
inline constexpr SqlState zero_length_character_string{"2200F"};
inline constexpr SqlState floating_point_exception{"22P01"};
inline constexpr SqlState invalid_text_representation{"22P02"};
inline constexpr SqlState invalid_binary_representation{"22P03"};
inline constexpr SqlState bad_copy_file_format{"22P04"};
inline constexpr SqlState untranslatable_character{"22P05"};
inline constexpr SqlState datum_version_mismatch{"22P07"};
inline constexpr SqlState not_an_xml_document{"2200L"};
inline constexpr SqlState invalid_xml_document{"2200M"};
inline constexpr SqlState invalid_xml_content{"2200N"};
inline constexpr SqlState invalid_xml_comment{"2200S"};
inline constexpr SqlState invalid_xml_processing_instruction{"2200T"};
inline constexpr SqlState duplicate_json_object_key_value{"22030"};
inline constexpr SqlState invalid_argument_for_sql_json_datetime_function{"22031"};
inline constexpr SqlState invalid_json_text{"22032"};
inline constexpr SqlState invalid_sql_json_subscript{"22033"};
inline constexpr SqlState more_than_one_sql_json_item{"22034"};
inline constexpr SqlState no_sql_json_item{"22035"};
inline constexpr SqlState non_numeric_sql_json_item{"22036"};
inline constexpr SqlState non_unique_keys_in_a_json_object{"22037"};
inline constexpr SqlState singleton_sql_json_item_required{"22038"};
inline constexpr SqlState sql_json_array_not_found{"22039"};
inline constexpr SqlState sql_json_member_not_found{"2203A"};
inline constexpr SqlState sql_json_number_not_found{"2203B"};
inline constexpr SqlState sql_json_object_not_found{"2203C"};
inline constexpr SqlState too_many_json_array_elements{"2203D"};
inline constexpr SqlState too_many_json_object_members{"2203E"};
inline constexpr SqlState sql_json_scalar_required{"2203F"};
inline constexpr SqlState sql_json_item_cannot_be_cast_to_target_type{"2203G"};

// Class 23 - Integrity Constraint Violation
inline constexpr SqlState integrity_constraint_violation{"23000"};
inline constexpr SqlState restrict_violation{"23001"};
inline constexpr SqlState not_null_violation{"23502"};
inline constexpr SqlState foreign_key_violation{"23503"};
inline constexpr SqlState unique_violation{"23505"};
inline constexpr SqlState check_violation{"23514"};
inline constexpr SqlState exclusion_violation{"23P01"};

// Class 24 - Invalid Cursor State
inline constexpr SqlState invalid_cursor_state{"24000"};

// Class 25 - Invalid Transaction State
inline constexpr SqlState invalid_transaction_state{"25000"};
inline constexpr SqlState active_sql_transaction{"25001"};
inline constexpr SqlState branch_transaction_already_active{"25002"};
inline constexpr SqlState held_cursor_requires_same_isolation_level{"25008"};
inline constexpr SqlState inappropriate_access_mode_for_branch_transaction{"25003"};
inline constexpr SqlState inappropriate_isolation_level_for_branch_transaction{"25004"};
inline constexpr SqlState no_active_sql_transaction_for_branch_transaction{"25005"};
inline constexpr SqlState read_only_sql_transaction{"25006"};
inline constexpr SqlState schema_and_data_statement_mixing_not_supported{"25007"};
inline constexpr SqlState no_active_sql_transaction{"25P01"};
inline constexpr SqlState in_failed_sql_transaction{"25P02"};
inline constexpr SqlState idle_in_transaction_session_timeout{"25P03"};
inline constexpr SqlState transaction_timeout{"25P04"};  // PostgreSQL 17

// Class 26 - Invalid SQL Statement Name
inline constexpr SqlState invalid_sql_statement_name{"26000"};

// Class 27 - Triggered Data Change Violation
inline constexpr SqlState triggered_data_change_violation{"27000"};

// Class 28 - Invalid Authorization Specification
inline constexpr SqlState invalid_authorization_specification{"28000"};
inline constexpr SqlState invalid_password{"28P01"};

// Class 2B - Dependent Privilege Descriptors Still Exist
inline constexpr SqlState dependent_privilege_descriptors_still_exist{"2B000"};
inline constexpr SqlState dependent_objects_still_exist{"2BP01"};

// Class 2D - Invalid Transaction Termination
inline constexpr SqlState invalid_transaction_termination{"2D000"};

// Class 2F - SQL Routine Exception
inline constexpr SqlState sql_routine_exception{"2F000"};
inline constexpr SqlState function_executed_no_return_statement{"2F005"};
inline constexpr SqlState modifying_sql_data_not_permitted{"2F002"};
inline constexpr SqlState prohibited_sql_statement_attempted{"2F003"};
inline constexpr SqlState reading_sql_data_not_permitted{"2F004"};

// Class 34 - Invalid Cursor Name
inline constexpr SqlState invalid_cursor_name{"34000"};

// Class 38 - External Routine Exception
inline constexpr SqlState external_routine_exception{"38000"};
inline constexpr SqlState containing_sql_not_permitted{"38001"};
inline constexpr SqlState e_r_e_modifying_sql_data_not_permitted{"38002"};
inline constexpr SqlState e_r_e_prohibited_sql_statement_attempted{"38003"};
inline constexpr SqlState e_r_e_reading_sql_data_not_permitted{"38004"};

// Class 39 - External Routine Invocation Exception
inline constexpr SqlState external_routine_invocation_exception{"39000"};
inline constexpr SqlState invalid_sqlstate_returned{"39001"};
inline constexpr SqlState e_r_i_e_null_value_not_allowed{"39004"};
inline constexpr SqlState trigger_protocol_violated{"39P01"};
inline constexpr SqlState srf_protocol_violated{"39P02"};
inline constexpr SqlState event_trigger_protocol_violated{"39P03"};

// Class 3B - Savepoint Exception
inline constexpr SqlState savepoint_exception{"3B000"};
inline constexpr SqlState invalid_savepoint_specification{"3B001"};

// Class 3D - Invalid Catalog Name
inline constexpr SqlState invalid_catalog_name{"3D000"};

// Class 3F - Invalid Schema Name
inline constexpr SqlState invalid_schema_name{"3F000"};

// Class 40 - Transaction Rollback
inline constexpr SqlState transaction_rollback{"40000"};
inline constexpr SqlState transaction_integrity_constraint_violation{"40002"};
inline constexpr SqlState serialization_failure{"40001"};
inline constexpr SqlState statement_completion_unknown{"40003"};
inline constexpr SqlState deadlock_detected{"40P01"};

// Class 42 - Syntax Error or Access Rule Violation
inline constexpr SqlState syntax_error_or_access_rule_violation{"42000"};
inline constexpr SqlState syntax_error{"42601"};
inline constexpr SqlState insufficient_privilege{"42501"};
inline constexpr SqlState cannot_coerce{"42846"};
inline constexpr SqlState grouping_error{"42803"};
inline constexpr SqlState windowing_error{"42P20"};
inline constexpr SqlState invalid_recursion{"42P19"};
inline constexpr SqlState invalid_foreign_key{"42830"};
inline constexpr SqlState invalid_name{"42602"};
inline constexpr SqlState name_too_long{"42622"};
inline constexpr SqlState reserved_name{"42939"};
inline constexpr SqlState datatype_mismatch{"42804"};
inline constexpr SqlState indeterminate_datatype{"42P18"};
inline constexpr SqlState collation_mismatch{"42P21"};
inline constexpr SqlState indeterminate_collation{"42P22"};
inline constexpr SqlState wrong_object_type{"42809"};
inline constexpr SqlState generated_always{"428C9"};
inline constexpr SqlState undefined_column{"42703"};
inline constexpr SqlState undefined_cursor{"34000"};
inline constexpr SqlState undefined_database{"3D000"};
inline constexpr SqlState undefined_function{"42883"};
inline constexpr SqlState undefined_pstatement{"26000"};
inline constexpr SqlState undefined_schema{"3F000"};
inline constexpr SqlState undefined_table{"42P01"};
inline constexpr SqlState undefined_parameter{"42P02"};
inline constexpr SqlState undefined_object{"42704"};
inline constexpr SqlState duplicate_column{"42701"};
inline constexpr SqlState duplicate_cursor{"42P03"};
inline constexpr SqlState duplicate_database{"42P04"};
inline constexpr SqlState duplicate_function{"42723"};
inline constexpr SqlState duplicate_pstatement{"42P05"};
inline constexpr SqlState duplicate_schema{"42P06"};
inline constexpr SqlState duplicate_table{"42P07"};
inline constexpr SqlState duplicate_alias{"42712"};
inline constexpr SqlState duplicate_object{"42710"};
inline constexpr SqlState ambiguous_column{"42702"};
inline constexpr SqlState ambiguous_function{"42725"};
inline constexpr SqlState ambiguous_parameter{"42P08"};
inline constexpr SqlState ambiguous_alias{"42P09"};
inline constexpr SqlState invalid_column_reference{"42P10"};
inline constexpr SqlState invalid_column_definition{"42611"};
inline constexpr SqlState invalid_cursor_definition{"42P11"};
inline constexpr SqlState invalid_database_definition{"42P12"};
inline constexpr SqlState invalid_function_definition{"42P13"};
inline constexpr SqlState invalid_pstatement_definition{"42P14"};
inline constexpr SqlState invalid_schema_definition{"42P15"};
inline constexpr SqlState invalid_table_definition{"42P16"};
inline constexpr SqlState invalid_object_definition{"42P17"};

// Class 44 - WITH CHECK OPTION Violation
inline constexpr SqlState with_check_option_violation{"44000"};

// Class 53 - Insufficient Resources
inline constexpr SqlState insufficient_resources{"53000"};
inline constexpr SqlState disk_full{"53100"};
inline constexpr SqlState out_of_memory{"53200"};
inline constexpr SqlState too_many_connections{"53300"};
inline constexpr SqlState configuration_limit_exceeded{"53400"};

// Class 54 - Program Limit Exceeded
inline constexpr SqlState program_limit_exceeded{"54000"};
inline constexpr SqlState statement_too_complex{"54001"};
inline constexpr SqlState too_many_columns{"54011"};
inline constexpr SqlState too_many_arguments{"54023"};

// Class 55 - Object Not In Prerequisite State
inline constexpr SqlState object_not_in_prerequisite_state{"55000"};
inline constexpr SqlState object_in_use{"55006"};
inline constexpr SqlState cant_change_runtime_param{"55P02"};
inline constexpr SqlState lock_not_available{"55P03"};
inline constexpr SqlState unsafe_new_enum_value_usage{"55P04"};

// Class 57 - Operator Intervention
inline constexpr SqlState operator_intervention{"57000"};
inline constexpr SqlState query_canceled{"57014"};
inline constexpr SqlState admin_shutdown{"57P01"};
inline constexpr SqlState crash_shutdown{"57P02"};
inline constexpr SqlState cannot_connect_now{"57P03"};
inline constexpr SqlState database_dropped{"57P04"};
inline constexpr SqlState idle_session_timeout{"57P05"};

// Class 58 - System Error (errors external to PostgreSQL itself)
inline constexpr SqlState system_error{"58000"};
inline constexpr SqlState io_error{"58030"};
inline constexpr SqlState undefined_file{"58P01"};
inline constexpr SqlState duplicate_file{"58P02"};

// Class 72 - Snapshot Failure
inline constexpr SqlState snapshot_too_old{"72000"};

// Class F0 - Configuration File Error
inline constexpr SqlState config_file_error{"F0000"};
inline constexpr SqlState lock_file_exists{"F0001"};

// Class HV - Foreign Data Wrapper Error (SQL/MED)
inline constexpr SqlState fdw_error{"HV000"};
inline constexpr SqlState fdw_column_name_not_found{"HV005"};
inline constexpr SqlState fdw_dynamic_parameter_value_needed{"HV002"};
inline constexpr SqlState fdw_function_sequence_error{"HV010"};
inline constexpr SqlState fdw_inconsistent_descriptor_information{"HV021"};
inline constexpr SqlState fdw_invalid_attribute_value{"HV024"};
inline constexpr SqlState fdw_invalid_column_name{"HV007"};
inline constexpr SqlState fdw_invalid_column_number{"HV008"};
inline constexpr SqlState fdw_invalid_data_type{"HV004"};
inline constexpr SqlState fdw_invalid_data_type_descriptors{"HV006"};
inline constexpr SqlState fdw_invalid_descriptor_field_identifier{"HV091"};
inline constexpr SqlState fdw_invalid_handle{"HV00B"};
inline constexpr SqlState fdw_invalid_option_index{"HV00C"};
inline constexpr SqlState fdw_invalid_option_name{"HV00D"};
inline constexpr SqlState fdw_invalid_string_length_or_buffer_length{"HV090"};
inline constexpr SqlState fdw_invalid_string_format{"HV00A"};
inline constexpr SqlState fdw_invalid_use_of_null_pointer{"HV009"};
inline constexpr SqlState fdw_too_many_handles{"HV014"};
inline constexpr SqlState fdw_out_of_memory{"HV001"};
inline constexpr SqlState fdw_no_schemas{"HV00P"};
inline constexpr SqlState fdw_option_name_not_found{"HV00J"};
inline constexpr SqlState fdw_reply_handle{"HV00K"};
inline constexpr SqlState fdw_schema_not_found{"HV00Q"};
inline constexpr SqlState fdw_table_not_found{"HV00R"};
inline constexpr SqlState fdw_unable_to_create_execution{"HV00L"};
inline constexpr SqlState fdw_unable_to_create_reply{"HV00M"};
inline constexpr SqlState fdw_unable_to_establish_connection{"HV00N"};

// Class P0 - PL/pgSQL Error
inline constexpr SqlState plpgsql_error{"P0000"};
inline constexpr SqlState raise_exception{"P0001"};
inline constexpr SqlState no_data_found{"P0002"};
inline constexpr SqlState too_many_rows{"P0003"};
inline constexpr SqlState assert_failure{"P0004"};

// Class XX - Internal Error
inline constexpr SqlState internal_error{"XX000"};
inline constexpr SqlState data_corrupted{"XX001"};
inline constexpr SqlState index_corrupted{"XX002"};

}  // namespace sqlstate
}  // namespace pgsilo
