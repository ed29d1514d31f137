-- psql's describe commands. describe.out is what PostgreSQL 15 answers.
\pset pager off
create table parent (id serial primary key, name varchar(20) not null default 'x'::character varying, n numeric(10,2) check (n > 0), "Odd Name" int default (1 + 2) * 3, "select" int check ("select" > 1 and ("select" < 5 or "select" = 7) and not "select" = 4), unique (name, n));
create table child (id int generated always as identity, p int references parent on delete cascade on update set null, t timestamptz default now(), n1 varchar(20), n2 numeric(10,2), constraint child_pk primary key (id), foreign key (n1, n2) references parent (name, n) match full on delete set null (n1) deferrable initially deferred);
create index child_p on child (p desc, t);
create unique index child_t on child (t nulls first, n1 desc nulls last) with (fillfactor=70);
create index "Odd" on parent ("Odd Name", "select");
create unique index nulls_index on parent (n) nulls not distinct;
create sequence seq as int increment 2 minvalue 3 cycle;
create schema other;
create table other.checks (a text primary key, b bytea, c bool default true, d date, e int[], constraint c1 check (a is not null and (b is null or c)), constraint c2 check (length(a) + 2 * 3 > 4), constraint c3 check (a in ('x','y') or a like 'z%' or -length(a) < 0), constraint c4 check (c is true), constraint c5 check (d is distinct from date '2020-01-01'), constraint c6 check (length(a) - (2 - 3) - 4 > 0), constraint c7 check (not (c and a is null)), constraint c8 check (coalesce(c, a = 'x')), constraint c9 check (a::int > 4 and (length(a) + 1)::text = '3'), check (e[1] > 0));
create table other.kid (a text references other.checks, b int unique nulls not distinct);
create unlogged table unlogged_table (a int);
\d
\d parent
\d child
\d seq
\d parent_id_seq
\d child_id_seq
\d child_p
\d child_t
\d parent_pkey
\d "Odd"
\d nulls_index
\d other.checks
\d other.kid
\d unlogged_table
\d no_such
\d pa*
\dt
\dt other.*
\dt pa*
\di
\ds
\dv
\dn
\l
\du
\dg
\df
\dT
\db
\dm
\dp
\df pg_sleep
\df generate_series
select c.relname, pg_get_indexdef(i.indexrelid), pg_get_indexdef(i.indexrelid, 0, true), pg_get_indexdef(i.indexrelid, 2, false), pg_get_indexdef(i.indexrelid, 9, false) from pg_index i join pg_class c on c.oid = i.indexrelid where c.relnamespace::regnamespace::text in ('public', 'other') order by 1;
select conname, pg_get_constraintdef(oid), pg_get_constraintdef(oid, true), pg_get_constraintdef(oid, false) from pg_constraint where connamespace::regnamespace::text in ('public', 'other') order by 1;
select pg_get_indexdef(1), pg_get_constraintdef(1), pg_get_indexdef(1259);
select adnum, pg_get_expr(adbin, adrelid), pg_get_expr(adbin, adrelid, true) from pg_attrdef where adrelid = 'parent'::regclass order by 1;
select schemaname, sequencename, sequenceowner, data_type, start_value, min_value, max_value, increment_by, cycle, cache_size, last_value from pg_sequences order by 2;
select nextval('seq');
select last_value from pg_sequences where sequencename = 'seq';
drop table child, parent, other.checks, other.kid, unlogged_table;
drop sequence seq;
drop schema other;
