\set VERBOSITY default
create table computed (a int, b int generated always as (a * 2) stored not null, c text collate "C" generated always as ('x' || a::text) stored);
\d computed
\d+ computed
copy computed from stdin;
1
2
\.
copy computed (a) from stdin;
\N
\.
copy computed (a, b) from stdin;
copy computed (b) to stdout;
copy computed to stdout (header);
copy (table computed) to stdout;
copy computed from stdin (format csv, force_null (b));
copy computed to stdout (format csv, force_quote (c));
alter table computed alter b drop expression;
alter table computed alter b drop expression if exists;
alter table computed alter b drop expression;
alter table computed drop column a;
alter table computed drop column a cascade;
\d computed
create table many (a int, b int generated always as (a + 1) stored, c int generated always as (a + 2) stored);
create view shows as select b from many;
alter table many drop column a;
alter table many drop column a cascade;
drop table many, computed;
