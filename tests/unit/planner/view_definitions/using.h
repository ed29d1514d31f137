// Joins with USING, NATURAL or an alias: merged and hidden columns. Texts are PostgreSQL 15's.
#pragma once

#include "tests/unit/planner/view_definitions/view_definition.h"

namespace pgsilo::testing {

inline constexpr ViewDefinition definitions_of_using[] = {
    {R"sql(select a, b, v from t join u using (a))sql", "",
     R"sql( SELECT t.a,
    t.b,
    u.v
   FROM (t
     JOIN u USING (a));)sql",
     R"sql( SELECT t.a,
    t.b,
    u.v
   FROM t
     JOIN u USING (a);)sql"},
    {R"sql(select a, b, v from t left join u using (a))sql", "",
     R"sql( SELECT t.a,
    t.b,
    u.v
   FROM (t
     LEFT JOIN u USING (a));)sql",
     R"sql( SELECT t.a,
    t.b,
    u.v
   FROM t
     LEFT JOIN u USING (a);)sql"},
    {R"sql(select a, b, v from t right join u using (a))sql", "",
     R"sql( SELECT u.a,
    t.b,
    u.v
   FROM (t
     RIGHT JOIN u USING (a));)sql",
     R"sql( SELECT u.a,
    t.b,
    u.v
   FROM t
     RIGHT JOIN u USING (a);)sql"},
    {R"sql(select a, b, v from t full join u using (a))sql", "",
     R"sql( SELECT a,
    t.b,
    u.v
   FROM (t
     FULL JOIN u USING (a));)sql",
     R"sql( SELECT a,
    t.b,
    u.v
   FROM t
     FULL JOIN u USING (a);)sql"},
    {R"sql(select a, n from t join w using (a))sql", "",
     R"sql( SELECT w.a,
    w.n
   FROM (t
     JOIN w USING (a));)sql",
     R"sql( SELECT w.a,
    w.n
   FROM t
     JOIN w USING (a);)sql"},
    {R"sql(select a, n from t left join w using (a))sql", "",
     R"sql( SELECT a,
    w.n
   FROM (t
     LEFT JOIN w USING (a));)sql",
     R"sql( SELECT a,
    w.n
   FROM t
     LEFT JOIN w USING (a);)sql"},
    {R"sql(select a, n from t full join w using (a) where a > 3 order by a)sql", "",
     R"sql( SELECT a,
    w.n
   FROM (t
     FULL JOIN w USING (a))
  WHERE (a > 3)
  ORDER BY a;)sql",
     R"sql( SELECT a,
    w.n
   FROM t
     FULL JOIN w USING (a)
  WHERE a > 3
  ORDER BY a;)sql"},
    {R"sql(select a, v, n from t full join u using (a) full join w using (a))sql", "",
     R"sql( SELECT a,
    u.v,
    w.n
   FROM ((t
     FULL JOIN u USING (a))
     FULL JOIN w USING (a));)sql",
     R"sql( SELECT a,
    u.v,
    w.n
   FROM t
     FULL JOIN u USING (a)
     FULL JOIN w USING (a);)sql"},
    {R"sql(select j.a, j.v from (t full join u using (a)) as j)sql", "",
     R"sql( SELECT j.a,
    j.v
   FROM (t
     FULL JOIN u USING (a)) j;)sql",
     ""},
    {R"sql(select j.x, j.v from (t join u using (a)) as j(x))sql", "",
     R"sql( SELECT j.x,
    j.v
   FROM (t t(x, b, c, d, e)
     JOIN u u(x, t_a, v) USING (x)) j;)sql",
     ""},
    {R"sql(select j.a1, j.b from (t join u on t.a = u.t_a) as j(a1, b, c, d, e, a2))sql", "",
     R"sql( SELECT j.a1,
    j.b
   FROM (t
     JOIN u ON ((t.a = u.t_a))) j(a1, b, c, d, e, a2, t_a, v);)sql",
     R"sql( SELECT j.a1,
    j.b
   FROM (t
     JOIN u ON t.a = u.t_a) j(a1, b, c, d, e, a2, t_a, v);)sql"},
    {R"sql(select k.v, t.b from t join u using (a) as k0 join u as k on k.a = k0.a)sql", "",
     R"sql( SELECT k.v,
    t.b
   FROM ((t
     JOIN u USING (a) AS k0)
     JOIN u k ON ((k.a = t.a)));)sql",
     R"sql( SELECT k.v,
    t.b
   FROM t
     JOIN u USING (a) AS k0
     JOIN u k ON k.a = t.a;)sql"},
    {R"sql(select a from t natural join u)sql", "",
     R"sql( SELECT t.a
   FROM (t
     JOIN u USING (a));)sql",
     R"sql( SELECT t.a
   FROM t
     JOIN u USING (a);)sql"},
    {R"sql(select j.q, (select max(w.a) from w where w.u_a = j.q) as m from (t full join u using (a)) as j(q))sql",
     "",
     R"sql( SELECT j.q,
    ( SELECT max(w.a) AS max
           FROM w
          WHERE (w.u_a = j.q)) AS m
   FROM (t t(q, b, c, d, e)
     FULL JOIN u u(q, t_a, v) USING (q)) j;)sql",
     R"sql( SELECT j.q,
    ( SELECT max(w.a) AS max
           FROM w
          WHERE w.u_a = j.q) AS m
   FROM (t t(q, b, c, d, e)
     FULL JOIN u u(q, t_a, v) USING (q)) j;)sql"},
    {R"sql(select (select count(*) from w where w.a = t.a) as n from t full join u using (a))sql",
     "",
     R"sql( SELECT ( SELECT count(*) AS count
           FROM w
          WHERE (w.a = t.a)) AS n
   FROM (t
     FULL JOIN u USING (a));)sql",
     R"sql( SELECT ( SELECT count(*) AS count
           FROM w
          WHERE w.a = t.a) AS n
   FROM t
     FULL JOIN u USING (a);)sql"},
    {R"sql(select (select count(*) from w where w.a = q.a) as n from (select a from t full join u using (a)) q)sql",
     "",
     R"sql( SELECT ( SELECT count(*) AS count
           FROM w
          WHERE (w.a = q.a)) AS n
   FROM ( SELECT a
           FROM (t
             FULL JOIN u USING (a))) q;)sql",
     R"sql( SELECT ( SELECT count(*) AS count
           FROM w
          WHERE w.a = q.a) AS n
   FROM ( SELECT a
           FROM t
             FULL JOIN u USING (a)) q;)sql"},
    {R"sql(select q.a from (select a from t full join u using (a) full join (select a from w) z using (a)) q)sql",
     "",
     R"sql( SELECT q.a
   FROM ( SELECT a
           FROM ((t
             FULL JOIN u USING (a))
             FULL JOIN ( SELECT w.a
                   FROM w) z USING (a))) q;)sql",
     R"sql( SELECT q.a
   FROM ( SELECT a
           FROM t
             FULL JOIN u USING (a)
             FULL JOIN ( SELECT w.a
                   FROM w) z USING (a)) q;)sql"},
    {R"sql(select j.a, k.b from (t join u using (a)) as j join (t join w using (a)) as k on j.a = k.a)sql",
     "",
     R"sql( SELECT j.a,
    k.b
   FROM ((t
     JOIN u USING (a)) j
     JOIN (t t_1
     JOIN w USING (a)) k ON ((j.a = k.a)));)sql",
     R"sql( SELECT j.a,
    k.b
   FROM (t
     JOIN u USING (a)) j
     JOIN (t t_1
     JOIN w USING (a)) k ON j.a = k.a;)sql"},
    {R"sql(select j.t_a, j2.a from (t left join u using (a)) as j cross join lateral (select u.a from u where u.a = j.b) j2)sql",
     "",
     R"sql( SELECT j.t_a,
    j2.a
   FROM ((t
     LEFT JOIN u USING (a)) j
     CROSS JOIN LATERAL ( SELECT u_1.a
           FROM u u_1
          WHERE (u_1.a = j.b)) j2);)sql",
     R"sql( SELECT j.t_a,
    j2.a
   FROM (t
     LEFT JOIN u USING (a)) j
     CROSS JOIN LATERAL ( SELECT u_1.a
           FROM u u_1
          WHERE u_1.a = j.b) j2;)sql"},
    {R"sql(select x1.a from t x1 full join t x2 using (a, b) where coalesce(x1.c, x2.c) = 'z' and a > 1)sql",
     "",
     R"sql( SELECT x1.a
   FROM (t x1
     FULL JOIN t x2 USING (a, b))
  WHERE ((COALESCE(x1.c, x2.c) = 'z'::text) AND (a > 1));)sql",
     R"sql( SELECT x1.a
   FROM t x1
     FULL JOIN t x2 USING (a, b)
  WHERE COALESCE(x1.c, x2.c) = 'z'::text AND a > 1;)sql"},
    {R"sql(select t.a, u.a as ua from t full join u using (a))sql", "",
     R"sql( SELECT t.a,
    u.a AS ua
   FROM (t
     FULL JOIN u USING (a));)sql",
     R"sql( SELECT t.a,
    u.a AS ua
   FROM t
     FULL JOIN u USING (a);)sql"},
    {R"sql(select t.a from t where exists (select 1 from u full join w using (a) where a = t.a))sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE (EXISTS ( SELECT 1
           FROM (u
             FULL JOIN w USING (a))
          WHERE (a = t.a)));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE (EXISTS ( SELECT 1
           FROM u
             FULL JOIN w USING (a)
          WHERE a = t.a));)sql"},
    {R"sql(select a from (t join u using (a)) join w using (a))sql", "",
     R"sql( SELECT w.a
   FROM ((t
     JOIN u USING (a))
     JOIN w USING (a));)sql",
     R"sql( SELECT w.a
   FROM t
     JOIN u USING (a)
     JOIN w USING (a);)sql"},
    {R"sql(select a, count(*) as n from t full join u using (a) group by a having max(t.b) > 1 order by a desc)sql",
     "",
     R"sql( SELECT a,
    count(*) AS n
   FROM (t
     FULL JOIN u USING (a))
  GROUP BY a
 HAVING (max(t.b) > 1)
  ORDER BY a DESC;)sql",
     R"sql( SELECT a,
    count(*) AS n
   FROM t
     FULL JOIN u USING (a)
  GROUP BY a
 HAVING max(t.b) > 1
  ORDER BY a DESC;)sql"},
    {R"sql(select f.w, g.w as w2 from unnest(array['a', 'b']) with ordinality f(w, n) join unnest(array['c']) with ordinality g(w, n) using (n))sql",
     "",
     R"sql( SELECT f.w,
    g.w AS w2
   FROM (unnest(ARRAY['a'::text, 'b'::text]) WITH ORDINALITY f(w, n)
     JOIN unnest(ARRAY['c'::text]) WITH ORDINALITY g(w, n) USING (n));)sql",
     R"sql( SELECT f.w,
    g.w AS w2
   FROM unnest(ARRAY['a'::text, 'b'::text]) WITH ORDINALITY f(w, n)
     JOIN unnest(ARRAY['c'::text]) WITH ORDINALITY g(w, n) USING (n);)sql"},
    {R"sql(select q.a from t as q natural left join u as r where r.v is not null)sql", "",
     R"sql( SELECT q.a
   FROM (t q
     LEFT JOIN u r USING (a))
  WHERE (r.v IS NOT NULL);)sql",
     R"sql( SELECT q.a
   FROM t q
     LEFT JOIN u r USING (a)
  WHERE r.v IS NOT NULL;)sql"},
    {R"sql(select l.pid, pg_locks.mode from pg_locks l join pg_locks using (pid))sql", "",
     R"sql( SELECT l.pid,
    pg_locks.mode
   FROM (pg_locks l
     JOIN pg_locks USING (pid));)sql",
     R"sql( SELECT l.pid,
    pg_locks.mode
   FROM pg_locks l
     JOIN pg_locks USING (pid);)sql"},
    {R"sql(select t1.a, t2.a as a2 from t t1 join t t2 using (b), w full join u using (a))sql", "",
     R"sql( SELECT t1.a_1 AS a,
    t2.a_1 AS a2
   FROM (t t1(a_1, b, c, d, e)
     JOIN t t2(a_1, b, c, d, e) USING (b)),
    (w
     FULL JOIN u USING (a));)sql",
     R"sql( SELECT t1.a_1 AS a,
    t2.a_1 AS a2
   FROM t t1(a_1, b, c, d, e)
     JOIN t t2(a_1, b, c, d, e) USING (b),
    w
     FULL JOIN u USING (a);)sql"},
    {R"sql(select j.x, j.y from ((t full join u using (a)) as i(x) join w on w.a = i.x) as j(x, b, c, d, e, f, y))sql",
     "",
     R"sql( SELECT j.x,
    j.y
   FROM ((t t(x, b, c, d, e)
     FULL JOIN u u(x, t_a, v) USING (x)) i
     JOIN w ON ((w.a = i.x))) j(x, b, c, d, e, f, y, a, u_a, n, arr);)sql",
     R"sql( SELECT j.x,
    j.y
   FROM ((t t(x, b, c, d, e)
     FULL JOIN u u(x, t_a, v) USING (x)) i
     JOIN w ON w.a = i.x) j(x, b, c, d, e, f, y, a, u_a, n, arr);)sql"},
    {R"sql(select s1.a from s.t s1 natural join s.far)sql", "",
     R"sql( SELECT s1.a
   FROM (s.t s1
     JOIN s.far USING (a, z));)sql",
     R"sql( SELECT s1.a
   FROM s.t s1
     JOIN s.far USING (a, z);)sql"},
    {R"sql(select u.v, w.a as wa, w.n from t full join u using (a) cross join w)sql", "",
     R"sql( SELECT u.v,
    w.a_1 AS wa,
    w.n
   FROM ((t
     FULL JOIN u USING (a))
     CROSS JOIN w w(a_1, u_a, n, arr));)sql",
     R"sql( SELECT u.v,
    w.a_1 AS wa,
    w.n
   FROM t
     FULL JOIN u USING (a)
     CROSS JOIN w w(a_1, u_a, n, arr);)sql"},
    {R"sql(select u.v, w.a as wa, x1.a as xa from t full join u using (a) join w on w.u_a = t.b full join (select a as b, b as a from t) x1 using (b))sql",
     "",
     R"sql( SELECT u.v,
    w.a_1 AS wa,
    x1.a_1 AS xa
   FROM (((t
     FULL JOIN u USING (a))
     JOIN w w(a_1, u_a, n, arr) ON ((w.u_a = t.b)))
     FULL JOIN ( SELECT t_1.a AS b,
            t_1.b AS a
           FROM t t_1) x1(b, a_1) USING (b));)sql",
     R"sql( SELECT u.v,
    w.a_1 AS wa,
    x1.a_1 AS xa
   FROM t
     FULL JOIN u USING (a)
     JOIN w w(a_1, u_a, n, arr) ON w.u_a = t.b
     FULL JOIN ( SELECT t_1.a AS b,
            t_1.b AS a
           FROM t t_1) x1(b, a_1) USING (b);)sql"},
    {R"sql(select t1.a, t2.a as a2, w.n from t t1 join t t2 using (b), w full join u using (a))sql",
     "",
     R"sql( SELECT t1.a_1 AS a,
    t2.a_1 AS a2,
    w.n
   FROM (t t1(a_1, b, c, d, e)
     JOIN t t2(a_1, b, c, d, e) USING (b)),
    (w
     FULL JOIN u USING (a));)sql",
     R"sql( SELECT t1.a_1 AS a,
    t2.a_1 AS a2,
    w.n
   FROM t t1(a_1, b, c, d, e)
     JOIN t t2(a_1, b, c, d, e) USING (b),
    w
     FULL JOIN u USING (a);)sql"},
    {R"sql(select t1.a, t1.b from t t1 full join t t2 using (b, a) full join t t3 using (b))sql",
     "",
     R"sql( SELECT t1.a,
    t1.b
   FROM ((t t1
     FULL JOIN t t2 USING (b, a))
     FULL JOIN t t3(a_1, b, c, d, e) USING (b));)sql",
     R"sql( SELECT t1.a,
    t1.b
   FROM t t1
     FULL JOIN t t2 USING (b, a)
     FULL JOIN t t3(a_1, b, c, d, e) USING (b);)sql"},
    {R"sql(select b, count(*) as n from t t1 full join t t2 using (b, d) group by b, d having max(d) > 1 order by d desc)sql",
     "",
     R"sql( SELECT b,
    count(*) AS n
   FROM (t t1
     FULL JOIN t t2 USING (b, d))
  GROUP BY b, d
 HAVING (max(d) > 1)
  ORDER BY d DESC;)sql",
     R"sql( SELECT b,
    count(*) AS n
   FROM t t1
     FULL JOIN t t2 USING (b, d)
  GROUP BY b, d
 HAVING max(d) > 1
  ORDER BY d DESC;)sql"},
    {R"sql(select (select j.a from (u full join w using (a)) as j where j.v = t.c) as z from t)sql",
     "",
     R"sql( SELECT ( SELECT j.a
           FROM (u
             FULL JOIN w USING (a)) j
          WHERE (j.v = t.c)) AS z
   FROM t;)sql",
     R"sql( SELECT ( SELECT j.a
           FROM (u
             FULL JOIN w USING (a)) j
          WHERE j.v = t.c) AS z
   FROM t;)sql"},
    {R"sql(select exists (select 1 from u where v = (select k.x from (t t1 join t t2 using (a)) as k(x, b1) where k.b1 = t.b and k.x = u.a)::text) as q from t)sql",
     "",
     R"sql( SELECT (EXISTS ( SELECT 1
           FROM u
          WHERE (u.v = (( SELECT k.x
                   FROM (t t1(x, b, c, d, e)
                     JOIN t t2(x, b, c, d, e) USING (x)) k(x, b1, c, d, e, b, c_1, d_1, e_1)
                  WHERE ((k.b1 = t.b) AND (k.x = u.a))))::text))) AS q
   FROM t;)sql",
     R"sql( SELECT (EXISTS ( SELECT 1
           FROM u
          WHERE u.v = ((( SELECT k.x
                   FROM (t t1(x, b, c, d, e)
                     JOIN t t2(x, b, c, d, e) USING (x)) k(x, b1, c, d, e, b, c_1, d_1, e_1)
                  WHERE k.b1 = t.b AND k.x = u.a))::text))) AS q
   FROM t;)sql"},
};

}  // namespace pgsilo::testing
