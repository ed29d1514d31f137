-- CREATE TABLE ... LIKE: what psql shows of the tables that come of it.
\pset pager off
create schema likes;
set search_path = likes;
create table src (id int primary key, a text not null default 'x', b int check (b > 0), c varchar(7) collate "C", d serial, e int generated always as identity (start 5 increment 2));
create unique index src_ab on src (a, b desc nulls last);
create index src_expr on src (lower(a), (b + 1)) where b > 3;
alter table src add constraint u unique (b, c);
alter table src drop column c;
alter table src add constraint named check (a <> '' and b < 1000);
comment on table src is 'the table';
comment on column src.a is 'a column';
comment on constraint named on src is 'a check';
comment on index src_expr is 'an index';
comment on index src_pkey is 'the key';
create table l1 (like src);
\d l1
create table l2 (z int, like src including defaults including constraints);
\d l2
create table l3 (x text, like src including all, y int);
\d l3
select a.attname, col_description(a.attrelid, a.attnum) from pg_attribute a where attrelid = 'l3'::regclass and attnum > 0 order by attnum;
select c.relname, obj_description(c.oid, 'pg_class') from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = 'l3'::regclass order by 1;
select conname, contype, obj_description(oid, 'pg_constraint') from pg_constraint where conrelid = 'l3'::regclass order by 1;
select obj_description('l3'::regclass, 'pg_class');
insert into l3 (id, b) values (1, 4) returning *;
insert into l3 (id, b) values (2, -1);
insert into l3 (id, b, a) values (1, 5, 'q');
insert into l3 (id, b, a) values (3, 4, 'x');
create table l4 (like src including all excluding indexes excluding identity);
\d l4
create table l5 (like src including identity);
insert into l5 (id, a, b, d) values (1, 'a', 2, 3) returning e;
create table l6 (id int, like src);
create view vw as select id, a from src;
create table l7 (like vw including all);
\d l7
create sequence sq;
create table l8 (like sq);
create table l9 (like nosuch);
create table l10 (like src including indexes, primary key (a));
create table l11 (like l3 including all, like l7);
create table l12 (like l3 including all, constraint named check (id > 0));
create table l13 (like src including storage including comments);
create temp table t1 (like src including all);
insert into t1 (id, b) values (1, 7) returning *;
create table if not exists l3 (like src);
create table l14 (like src including constraints);
alter table src drop constraint named;
insert into l14 (id, a, b, d, e) values (1, '', 1, 1, 1);
create table self (a int primary key, b int references self);
create table l15 (like self including all);
\d l15
create table l16 (a int, like self including all);
create index on self (b) with (fillfactor = 70);
create table l17 (like self including indexes);
\d+ l17
create table l18 (like pg_class);
select count(*) from pg_attribute where attrelid = 'l18'::regclass and attnum > 0;
\set VERBOSITY terse
drop schema likes cascade;
