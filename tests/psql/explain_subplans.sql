-- Where the plans of subqueries are shown, and the rows that they read from outside.
create table t (a int primary key, b int);
create table s (x int, y int);
explain (costs off)
insert into t values (1, 2)
on conflict (a) do update set b = 3 where exists (select 1 from s s2 where s2.x = excluded.b + t.b);
explain (costs off)
insert into t values (1, 2)
on conflict (a) do update set b = (select max(y) from s s1 where s1.x > excluded.a);
explain (costs off)
update t u set b = 1 returning (select s1.y from s s1 where s1.x = u.b);
explain (costs off)
delete from t u returning (select s1.y from s s1 where s1.x = u.b and s1.y = u.a);
explain (costs off)
insert into t select x, y from s returning (select s2.y from s s2 where s2.x = t.b);
explain (costs off)
select (select max(s1.y) from s s1), (select max(s2.y) from s s2 where s2.x = l.x)
from s l left join s r on l.x < r.x;
drop table t, s;
