-- What a read-only transaction refuses, by the command's name.
create table read_only_table (id int primary key);
begin; set transaction read only; insert into read_only_table values (1); rollback;
begin; set transaction read only; insert into read_only_table select 1 returning id; rollback;
begin; set transaction read only; update read_only_table set id = 2; rollback;
begin; set transaction read only; delete from read_only_table; rollback;
begin; set transaction read only; select * from read_only_table for update; rollback;
prepare filling as insert into read_only_table values (1);
begin; set transaction read only; execute filling; rollback;
drop table read_only_table;
