-- Domains: what psql shows of them, and errors and notices in full.
\pset pager off
create type mood as enum ('sad', 'ok', 'happy');
create domain con as int check (value > -100);
create domain con2 as con;
create domain word as text collate "C" default 'none' not null;
create domain bright as mood default 'ok' check (value <> 'sad') constraint named check (value is not null or value is null);
create domain pair as int[] check (array_length(value, 1) = 2);
create schema s;
create domain s.con as numeric(6,2) default 1.5 check (value > 1) check (value < 100);
create domain s.d2 as s.con not null;
\dD
\dD s.*
\dD con
\dT con
\dT+ con
create table ct (id int primary key, o con2, w word, b bright, p pair, x con[] check (x[1] > 0));
\d ct
create table s.t (a s.con, b con, c s.d2[], w word[]);
\d s.t
create view v as select id, o, o::int + 1 as q, 5::con as five, '{1,2}'::pair as pr, array[1,2]::con[] as arr, null::bright as n from ct where w <> 'x'::word and o > 3;
\d+ v
select 5::s.con, 0::s.con;
select null::s.d2;
select '{1}'::s.d2[];
select 'x'::bright;
select 'ok'::bright = 'ok';
select '2020-01-01'::date::con;
create domain s.bad as s.con collate "C";
create domain bad as record;
create domain bad as text collate "C" collate "C";
alter domain con add constraint n not null;
alter domain con add foreign key (x) references ct;
alter domain con validate constraint nosuch;
alter domain con rename constraint nosuch to x;
alter domain s.con rename constraint con_check to con_check1;
alter domain s.con rename constraint nosuch to con_check1;
alter domain con drop constraint nosuch;
alter domain con drop constraint if exists nosuch;
alter domain nosuch set not null;
alter domain nosuch.x set not null;
alter domain ct set not null;
alter domain int4 set not null;
alter domain _con set not null;
alter domain mood owner to postgres;
alter domain mood set schema s;
alter domain ct rename to x;
alter type con add value 'x';
alter domain con owner to current_user;
alter domain con owner to nosuchrole;
alter type mood owner to postgres;
alter type ct owner to postgres;
alter type _con owner to postgres;
alter domain con add check (value > 10);
alter domain con set not null;
insert into ct (id, o, x) values (1, -5, '{1}');
alter table ct drop column x;
alter domain con add check (value > 10);
alter domain con add constraint pos check (value > 0) not valid;
alter domain con validate constraint pos;
\dD con
alter domain con drop constraint pos;
update ct set o = null;
alter domain con set not null;
comment on domain con is 'a con';
comment on domain ct is 'a con';
comment on domain int4 is 'a con';
comment on constraint nosuch on domain con is 'about it';
comment on constraint con_check on domain con is 'about it';
\dT con
select obj_description(oid, 'pg_constraint') from pg_constraint where contypid = 'con'::regtype;
copy ct (id, w, b) from stdin;
2	x	happy
3	x	sad
\.
copy ct (id, w) from stdin;
3	\N
\.
alter domain s.con set schema public;
alter domain s.con set schema nosuch;
alter domain s.con rename to con3;
alter domain s.con3 set schema public;
alter domain con3 rename to con;
\d s.t
drop schema s;
drop domain con;
drop domain con3;
drop type con3 cascade;
\d s.t
drop domain ct;
drop domain int4;
drop domain nosuch;
drop domain if exists nosuch;
drop domain if exists nosuch.x;
drop type mood;
create sequence sq;
create domain d4 int default nextval('sq') check (value > 0);
drop sequence sq;
drop sequence sq cascade;
drop schema s cascade;
drop domain bright cascade;
drop view v;
drop table ct;
drop type mood;
drop domain con2, con, word, pair;
\dD
