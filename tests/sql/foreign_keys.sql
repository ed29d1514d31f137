create table fk_parent (id int primary key, v text)

create table fk_child (id int primary key, pid int references fk_parent, note text)

select conname, contype, condeferrable, condeferred, convalidated, confupdtype, confdeltype, confmatchtype, conkey, confkey, confrelid::regclass, conindid::regclass from pg_constraint where conrelid = 'fk_child'::regclass order by 1

insert into fk_parent values (1, 'a'), (2, 'b'), (3, 'c')

insert into fk_child values (10, 1, 'x'), (11, null, 'y'), (12, 2, 'z')

insert into fk_child values (13, 7, 'no')

insert into fk_child values (13, 1, 'yes'), (14, 9, 'no')

select * from fk_child order by 1

update fk_child set pid = 8 where id = 10

update fk_child set pid = 2 where id = 10

update fk_child set note = 'n' where id = 10

delete from fk_parent where id = 2

delete from fk_parent where id = 3

update fk_parent set id = 20 where id = 2

update fk_parent set v = 'bb' where id = 2

update fk_parent set id = 2 where id = 2

update fk_parent set id = 30 where id = 1

select * from fk_parent order by 1

delete from fk_child where pid = 2

delete from fk_parent where id = 2

select * from fk_parent order by 1

drop table fk_parent

truncate fk_parent

truncate fk_parent, fk_child

insert into fk_parent values (1, 'a')

insert into fk_child values (10, 1, 'x')

truncate fk_parent cascade

select count(*) from fk_child

alter table fk_parent drop constraint fk_parent_pkey

drop index fk_parent_pkey

alter table fk_parent drop column id

drop table fk_parent cascade

select conname from pg_constraint where conrelid = 'fk_child'::regclass order by 1

drop table fk_child

create table fk_cascade_parent (id int primary key, name text unique)

create table fk_cascade_child (id int primary key, pid int references fk_cascade_parent on delete cascade on update cascade)

create table fk_cascade_grandchild (id int primary key, cid int references fk_cascade_child on delete cascade on update cascade)

insert into fk_cascade_parent values (1, 'one'), (2, 'two'), (3, 'three')

insert into fk_cascade_child select g, 1 + g % 3 from generate_series(1, 9) g

insert into fk_cascade_grandchild select g, 1 + g % 9 from generate_series(1, 27) g

delete from fk_cascade_parent where id = 1

select * from fk_cascade_child order by 1

select count(*) from fk_cascade_grandchild

update fk_cascade_parent set id = id + 100

select * from fk_cascade_child order by 1

update fk_cascade_child set id = id + 1000 where id = 1

select * from fk_cascade_grandchild where cid > 1000 order by 1

delete from fk_cascade_parent

select count(*) from fk_cascade_child

select count(*) from fk_cascade_grandchild

drop table fk_cascade_parent, fk_cascade_child, fk_cascade_grandchild

create table fk_names (id int primary key, name varchar(20) unique not null, other text unique)

create table fk_by_name (id int, name text references fk_names (name) on update cascade on delete set null, other varchar references fk_names (other) on delete set default default 'none')

insert into fk_names values (1, 'one', 'uno'), (2, 'two', 'due'), (3, 'three', null)

insert into fk_by_name values (1, 'one', 'due'), (2, 'two', null)

insert into fk_by_name values (3, 'four', null)

insert into fk_by_name values (3, null, 'none')

insert into fk_by_name values (3, 'three', 'uno')

update fk_names set name = 'eins' where id = 1

select * from fk_by_name order by id

update fk_names set other = 'dos' where id = 2

delete from fk_names where id = 1

insert into fk_names values (4, 'four', 'none')

delete from fk_names where id = 1

select * from fk_by_name order by id

delete from fk_names where id = 4

update fk_names set other = 'nothing' where id = 4

select * from fk_names order by id

drop table fk_by_name, fk_names

create table fk_pairs (a int, b text, c int, primary key (a, b), unique (c, a))

create table fk_simple (id int primary key, x int, y text, foreign key (x, y) references fk_pairs)

create table fk_full (id int primary key, x int, y text, constraint full_one foreign key (x, y) references fk_pairs match full on update cascade)

create table fk_turned (id int primary key, x int, z int, foreign key (x, z) references fk_pairs (a, c))

insert into fk_pairs values (1, 'a', 10), (1, 'b', 11), (2, 'a', 10)

insert into fk_simple values (1, 1, 'a'), (2, 1, null), (3, null, 'zzz'), (4, null, null)

insert into fk_simple values (5, 1, 'c')

insert into fk_full values (1, 1, 'a'), (2, null, null)

insert into fk_full values (3, 1, null)

insert into fk_full values (3, null, 'a')

insert into fk_full values (3, 2, 'b')

insert into fk_turned values (1, 1, 11), (2, 2, 10)

insert into fk_turned values (3, 2, 11)

update fk_pairs set b = 'aa' where a = 1 and b = 'a'

delete from fk_simple where id = 1

update fk_pairs set b = 'aa' where a = 1 and b = 'a'

select * from fk_full order by id

update fk_pairs set c = 12 where c = 11

update fk_full set x = null where id = 1

select conname, conkey, confkey, confmatchtype from pg_constraint where contype = 'f' order by 1

drop table fk_simple, fk_full, fk_turned, fk_pairs

create table fk_tree (id int primary key, parent int references fk_tree on delete cascade, name text)

insert into fk_tree values (1, null, 'root'), (2, 1, 'a'), (3, 2, 'aa'), (4, 1, 'b')

insert into fk_tree values (6, 5, 'later'), (5, 1, 'now')

insert into fk_tree values (7, 7, 'self')

insert into fk_tree values (8, 9, 'missing')

update fk_tree set id = 70 where id = 7

update fk_tree set id = 70, parent = 70 where id = 7

update fk_tree set id = id + 100

delete from fk_tree where id = 2

select * from fk_tree order by id

delete from fk_tree where id = 1

select * from fk_tree order by id

insert into fk_tree select g, case when g > 1000 then g - 1 end, 'chain' from generate_series(1000, 3000) g

delete from fk_tree where id = 1000

select * from fk_tree order by id

drop table fk_tree

create table fk_restrict_parent (id int primary key)

create table fk_restrict (pid int references fk_restrict_parent on delete restrict on update restrict)

create table fk_no_action (pid int references fk_restrict_parent on delete no action)

insert into fk_restrict_parent values (1), (2), (3)

insert into fk_restrict values (1)

insert into fk_no_action values (2)

delete from fk_restrict_parent where id = 1

update fk_restrict_parent set id = id + 1

delete from fk_restrict

update fk_restrict_parent set id = id + 1

update fk_restrict_parent set id = case id when 2 then 3 when 3 then 2 else id end

select * from fk_restrict_parent order by id

drop table fk_restrict_parent, fk_restrict, fk_no_action

create table fk_set_parent (a int, b int, primary key (a, b))

create table fk_set (id int primary key, a int default 1, b int default 1, foreign key (a, b) references fk_set_parent on delete set null (b) on update set default)

insert into fk_set_parent values (1, 1), (1, 2), (2, 2)

insert into fk_set values (1, 1, 2), (2, 2, 2)

delete from fk_set_parent where a = 1 and b = 2

select * from fk_set order by id

update fk_set_parent set b = 3 where a = 2

select * from fk_set order by id

update fk_set_parent set b = 9 where a = 1

select confdelsetcols from pg_constraint where conname = 'fk_set_a_b_fkey'

drop table fk_set, fk_set_parent

create table fk_no_parent (id int references fk_missing)

create table fk_plain (id int, u int)

create table fk_bad (id int references fk_plain)

create table fk_bad (id int references fk_plain (id))

create table fk_bad (id int references fk_plain (nothing))

create table fk_typed (id int primary key, t text unique, n numeric unique, b bigint unique, s smallint unique, c char(5) unique, d date unique)

create table fk_bad (id text references fk_typed)

create table fk_bad (id int references fk_typed (t))

create table fk_bad (id numeric references fk_typed)

create table fk_bad (id int, foreign key (nothing) references fk_typed)

create table fk_bad (a int, b int, foreign key (a, b) references fk_typed)

create table fk_bad (a int, b int, foreign key (a, b) references fk_typed (id, id))

create table fk_bad (a int references fk_typed on delete set null (b), b int)

create table fk_bad (a int, b int, foreign key (a) references fk_typed on delete set null (b))

create table fk_bad (a int references pg_class (oid))

create table fk_bad (a int references fk_typed match partial)

create table fk_types (a int references fk_typed (b), b bigint references fk_typed (id), c int references fk_typed (n), d bigint references fk_typed (s), e varchar(7) references fk_typed (t), f char(3) references fk_typed (c), g date references fk_typed (d))

insert into fk_typed values (1, 'one', 1.00, 5000000000, 7, 'ab', '2020-02-29'), (2, 'two', 2, 3, 8, 'cd', null)

insert into fk_types values (3, 1, 1, 7, 'one', 'ab', '2020-02-29')

insert into fk_types (a) values (4)

insert into fk_types (b) values (5000000000)

insert into fk_types (c) values (3)

insert into fk_types (d) values (70000)

insert into fk_types (e) values ('three')

insert into fk_types (f) values ('cd'), ('cd ')

insert into fk_types (f) values ('ce')

insert into fk_types (g) values ('2021-01-01')

delete from fk_typed where id = 2

update fk_typed set n = 1.0 where id = 1

update fk_typed set n = 1.5 where id = 1

select * from fk_types order by a, f

drop table fk_types

alter table fk_plain add primary key (id)

create table fk_late (id int, pid int)

insert into fk_plain values (1, 1), (2, 2)

insert into fk_late values (1, 1), (2, 3)

alter table fk_late add foreign key (pid) references fk_plain

alter table fk_late add foreign key (pid) references fk_plain not valid

select conname, convalidated from pg_constraint where conrelid = 'fk_late'::regclass

insert into fk_late values (3, 4)

update fk_late set id = 9 where id = 2

alter table fk_late validate constraint fk_late_pid_fkey

alter table fk_late validate constraint nothing

update fk_late set pid = 2 where pid = 3

alter table fk_late validate constraint fk_late_pid_fkey

select conname, convalidated from pg_constraint where conrelid = 'fk_late'::regclass

alter table fk_late add constraint fk_late_pid_fkey foreign key (id) references fk_plain

alter table fk_late rename constraint fk_late_pid_fkey to renamed

alter table fk_late rename column pid to parent

alter table fk_plain rename column id to key

alter table fk_plain rename to fk_renamed

insert into fk_late values (5, 5)

delete from fk_renamed where key = 1

alter table fk_late add column extra int references fk_renamed

update fk_late set extra = 1

update fk_late set extra = 3

alter table fk_late drop column extra

alter table fk_late drop constraint renamed

delete from fk_renamed where key = 1

alter table fk_late add constraint again foreign key (parent) references fk_renamed not valid

alter table fk_renamed drop constraint fk_plain_pkey cascade

select conname from pg_constraint where conrelid = 'fk_late'::regclass

alter table fk_renamed add primary key (key)

delete from fk_late where parent = 1

alter table fk_late add constraint again foreign key (parent) references fk_renamed

alter table fk_renamed drop column key cascade

select conname from pg_constraint where conrelid = 'fk_late'::regclass

drop table fk_late, fk_renamed, fk_typed

create table fk_def_parent (id int primary key)

create table fk_deferred (id int primary key, pid int constraint fk_deferred_one references fk_def_parent deferrable initially deferred, q int constraint fk_deferrable references fk_def_parent deferrable)

begin

insert into fk_deferred values (1, 5, null)

insert into fk_def_parent values (5)

commit

begin

insert into fk_deferred values (2, 6, null)

commit

select * from fk_deferred order by id

begin

insert into fk_deferred values (2, 6, null)

delete from fk_deferred where id = 2

commit

begin

delete from fk_def_parent where id = 5

insert into fk_def_parent values (5)

commit

begin

insert into fk_deferred values (3, null, 7)

rollback

begin

set constraints fk_deferrable deferred

insert into fk_deferred values (3, null, 7)

insert into fk_def_parent values (7)

set constraints all immediate

insert into fk_deferred values (4, 8, null)

rollback

begin

set constraints all deferred

insert into fk_deferred values (3, null, 7)

savepoint s

set constraints all immediate

rollback to s

insert into fk_def_parent values (7)

set constraints all immediate

commit

select * from fk_deferred order by id

begin

insert into fk_deferred values (4, 9, null)

savepoint s

insert into fk_deferred values (5, 10, null)

rollback to s

insert into fk_def_parent values (9)

commit

begin

insert into fk_deferred values (6, 11, null)

alter table fk_deferred add column more int

rollback

begin

insert into fk_deferred values (6, 11, null)

truncate fk_deferred

rollback

insert into fk_deferred values (6, 11, null)

begin

set constraints nothing immediate

rollback

alter table fk_deferred alter constraint fk_deferred_one not deferrable

begin

set constraints fk_deferred_one immediate

rollback

insert into fk_deferred values (6, 11, null)

alter table fk_deferred alter constraint fk_deferred_one deferrable initially deferred

select conname, condeferrable, condeferred from pg_constraint where conrelid = 'fk_deferred'::regclass and contype = 'f' order by 1

drop table fk_def_parent, fk_deferred

create table fk_conflict_parent (id int primary key, v int)

create table fk_conflict (id int primary key, pid int references fk_conflict_parent)

insert into fk_conflict_parent values (1, 1)

insert into fk_conflict values (1, 1) on conflict (id) do update set pid = excluded.pid

insert into fk_conflict values (1, 2) on conflict (id) do update set pid = excluded.pid

insert into fk_conflict values (1, 2) on conflict do nothing

insert into fk_conflict values (1, 2) on conflict on constraint fk_conflict_pid_fkey do nothing

insert into fk_conflict_parent values (1, 5) on conflict (id) do update set v = excluded.v

insert into fk_conflict_parent values (1, 5) on conflict (id) do update set id = 7

drop table fk_conflict, fk_conflict_parent

create table fk_two (id int primary key)

create table fk_a (id int references fk_two on delete cascade)

create table fk_b (id int references fk_two)

insert into fk_two values (1), (2)

insert into fk_a values (1), (2)

insert into fk_b values (2)

delete from fk_two

delete from fk_two where id = 1

select * from fk_a order by 1

drop table fk_two

drop table fk_two cascade

drop table fk_a, fk_b

create table fk_type_parent (id int primary key, t text unique)

create table fk_type_child (id int, pid int references fk_type_parent, t varchar references fk_type_parent (t))

insert into fk_type_parent values (1, 'x'), (2, 'y')

insert into fk_type_child values (1, 1, 'x'), (2, 2, null)

alter table fk_type_child alter column pid type bigint

alter table fk_type_child alter column pid type text

alter table fk_type_parent alter column id type numeric

alter table fk_type_child alter column pid type int using pid + 1

alter table fk_type_child alter column pid type int using 3 - pid

select * from fk_type_child order by id

alter table fk_type_parent alter column id type bigint

insert into fk_type_child values (3, 3, null)

insert into fk_type_child values (3, 1, 'y')

delete from fk_type_parent where id = 1

drop table fk_type_child, fk_type_parent

create table fk_pending_parent (id int primary key, u int)

create unique index fk_pending_index on fk_pending_parent (u)

create table fk_pending (id int primary key, pid int references fk_pending_parent deferrable initially deferred, u int references fk_pending_parent (u) deferrable initially deferred)

insert into fk_pending_parent values (1, 1)

insert into fk_pending values (1, 1, 1)

begin

insert into fk_pending values (2, 99, null)

drop table fk_pending_parent cascade

set constraints all immediate

select * from fk_pending

rollback

begin

delete from fk_pending_parent where id = 1

drop table fk_pending

rollback

begin

delete from fk_pending_parent where id = 1

alter table fk_pending drop constraint fk_pending_pid_fkey

rollback

begin

insert into fk_pending values (2, null, 5)

drop index fk_pending_index cascade

rollback

begin

insert into fk_pending values (2, 99, null)

alter table fk_pending_parent drop column id cascade

set constraints all immediate

select * from fk_pending

rollback

drop table fk_pending, fk_pending_parent

create table fk_retyped_parent (id numeric primary key)

create table fk_retyped (pid int references fk_retyped_parent on delete cascade)

insert into fk_retyped_parent values (1), (2), (3)

insert into fk_retyped values (1), (2), (3)

delete from fk_retyped_parent where id = 1

alter table fk_retyped_parent alter column id type int

delete from fk_retyped_parent where id = 2

select * from fk_retyped

alter table fk_retyped drop constraint fk_retyped_pid_fkey

insert into fk_retyped values (7)

alter table fk_retyped add foreign key (pid) references fk_retyped_parent not valid

alter table fk_retyped alter column pid type bigint

drop table fk_retyped, fk_retyped_parent
