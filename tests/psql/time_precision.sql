-- Precisions of times that are more than 6.
select '2024-01-01 00:00:00.123456789'::timestamp(100);
select '2024-01-01 00:00:00.123456789'::timestamp(100);
select '2024-01-01 00:00:00.123456789'::timestamptz(7) at time zone 'utc', timestamp(6) '2024-01-01';
select time(7) '00:00:00.123456789', '00:00:00.123456789+00'::timetz(8);
select '1 second'::interval(10), '1 second'::interval second(7), '1 second'::interval day to second(6);
select current_timestamp(7) is null, current_time(10) is null, localtime(7) is null, localtimestamp(8) is null;
select '{2024-01-01}'::timestamp(8)[];
prepare lowered as select $1::timestamp(8);
execute lowered('2024-01-01');
create table made as select '2024-01-01'::timestamp(8) x;
create table defaulted (x timestamp default '2024-01-01'::timestamp(8));
insert into defaulted default values;
insert into defaulted default values;
drop table made, defaulted;
