// UNION, INTERSECT, EXCEPT. Texts are PostgreSQL 15's.
#pragma once

#include "tests/unit/planner/view_definitions/view_definition.h"

namespace pgsilo::testing {

inline constexpr ViewDefinition definitions_of_set_operations[] = {
    {R"sql(select a from t union select a from u)sql", "",
     R"sql( SELECT t.a
   FROM t
UNION
 SELECT u.a
   FROM u;)sql",
     ""},
    {R"sql(select a, c from t union all select a, v from u order by 1 desc, 2 limit 3)sql", "",
     R"sql( SELECT t.a,
    t.c
   FROM t
UNION ALL
 SELECT u.a,
    u.v AS c
   FROM u
  ORDER BY 1 DESC, 2
 LIMIT 3;)sql",
     ""},
    {R"sql(select a from t union all select a from u union all select t_a from u)sql", "",
     R"sql( SELECT t.a
   FROM t
UNION ALL
 SELECT u.a
   FROM u
UNION ALL
 SELECT u.t_a AS a
   FROM u;)sql",
     ""},
    {R"sql(select a from t union select a from u union all select t_a from u)sql", "",
     R"sql((
         SELECT t.a
           FROM t
        UNION
         SELECT u.a
           FROM u
) UNION ALL
 SELECT u.t_a AS a
   FROM u;)sql",
     ""},
    {R"sql(select a from t except (select a from u intersect select u_a from w))sql", "",
     R"sql( SELECT t.a
   FROM t
EXCEPT (
         SELECT u.a
           FROM u
        INTERSECT
         SELECT w.u_a AS a
           FROM w
);)sql",
     ""},
    {R"sql((select a from t order by b limit 1) union all (select a from u order by v limit 1))sql",
     "",
     R"sql(( SELECT t.a
   FROM t
  ORDER BY t.b
 LIMIT 1)
UNION ALL
( SELECT u.a
   FROM u
  ORDER BY u.v
 LIMIT 1);)sql",
     ""},
    {R"sql(select a from t intersect all select a from u except all select u_a from w)sql", "",
     R"sql((
         SELECT t.a
           FROM t
        INTERSECT ALL
         SELECT u.a
           FROM u
) EXCEPT ALL
 SELECT w.u_a AS a
   FROM w;)sql",
     ""},
    {R"sql(select a, null as k from t union all select a, 'x' from u)sql", "",
     R"sql( SELECT t.a,
    NULL::text AS k
   FROM t
UNION ALL
 SELECT u.a,
    'x'::text AS k
   FROM u;)sql",
     ""},
    {R"sql(select a from t union select a from w)sql", "",
     R"sql( SELECT t.a
   FROM t
UNION
 SELECT w.a
   FROM w;)sql",
     ""},
    {R"sql(with q as materialized (select a from t), r as not materialized (select a from u) select * from q union all select * from r)sql",
     "",
     R"sql( WITH q AS MATERIALIZED (
         SELECT t.a
           FROM t
        ), r AS NOT MATERIALIZED (
         SELECT u.a
           FROM u
        )
 SELECT q.a
   FROM q
UNION ALL
 SELECT r.a
   FROM r;)sql",
     ""},
    {R"sql(select a from t where a in (select a from u union select t_a from u))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.a IN ( SELECT u.a
           FROM u
        UNION
         SELECT u.t_a
           FROM u));)sql",
     ""},
    {R"sql(select x from (select a as x from t union all select a from u order by 1) q where x > 1)sql",
     "",
     R"sql( SELECT q.x
   FROM ( SELECT t.a AS x
           FROM t
        UNION ALL
         SELECT u.a
           FROM u
  ORDER BY 1) q
  WHERE (q.x > 1);)sql",
     R"sql( SELECT q.x
   FROM ( SELECT t.a AS x
           FROM t
        UNION ALL
         SELECT u.a
           FROM u
  ORDER BY 1) q
  WHERE q.x > 1;)sql"},
    {R"sql(select a, x2.c from t x1 full join t x2 using (a) union all select 1, 'x')sql", "",
     R"sql( SELECT a,
    x2.c
   FROM (t x1
     FULL JOIN t x2 USING (a))
UNION ALL
 SELECT 1 AS a,
    'x'::text AS c;)sql",
     R"sql( SELECT a,
    x2.c
   FROM t x1
     FULL JOIN t x2 USING (a)
UNION ALL
 SELECT 1 AS a,
    'x'::text AS c;)sql"},
    {R"sql(with q as (select a, b from t where b > 1 union select a, t_a from u) select q.a, count(*) as n from q group by q.a)sql",
     "",
     R"sql( WITH q AS (
         SELECT t.a,
            t.b
           FROM t
          WHERE (t.b > 1)
        UNION
         SELECT u.a,
            u.t_a
           FROM u
        )
 SELECT q.a,
    count(*) AS n
   FROM q
  GROUP BY q.a;)sql",
     R"sql( WITH q AS (
         SELECT t.a,
            t.b
           FROM t
          WHERE t.b > 1
        UNION
         SELECT u.a,
            u.t_a
           FROM u
        )
 SELECT q.a,
    count(*) AS n
   FROM q
  GROUP BY q.a;)sql"},
    {R"sql(with q(k) as (values (1), (2)) select k from q union select a from t order by k)sql", "",
     R"sql( WITH q(k) AS (
         VALUES (1), (2)
        )
 SELECT q.k
   FROM q
UNION
 SELECT t.a AS k
   FROM t
  ORDER BY 1;)sql",
     ""},
    {R"sql(select a from t union (select a from u order by a limit 1) order by 1)sql", "",
     R"sql( SELECT t.a
   FROM t
UNION
( SELECT u.a
   FROM u
  ORDER BY u.a
 LIMIT 1)
  ORDER BY 1;)sql",
     ""},
    {R"sql((select a from t union select a from u) intersect select u_a from w order by 1 desc nulls last offset 1)sql",
     "",
     R"sql((
         SELECT t.a
           FROM t
        UNION
         SELECT u.a
           FROM u
) INTERSECT
 SELECT w.u_a AS a
   FROM w
  ORDER BY 1 DESC NULLS LAST
 OFFSET 1;)sql",
     ""},
    {R"sql(select a from t except all select a from u)sql", "",
     R"sql( SELECT t.a
   FROM t
EXCEPT ALL
 SELECT u.a
   FROM u;)sql",
     ""},
    {R"sql(select 1 as one, 'x' as two union select 2, 'y' union all (select 3, 'z' union select 4, null) limit 3)sql",
     "",
     R"sql((
         SELECT 1 AS one,
            'x'::text AS two
        UNION
         SELECT 2 AS one,
            'y'::text AS two
) UNION ALL (
         SELECT 3 AS one,
            'z'::text AS two
        UNION
         SELECT 4 AS one,
            NULL::text AS two
)
 LIMIT 3;)sql",
     ""},
    {R"sql(select * from (select a from t union all (values (1), (2))) q)sql", "",
     R"sql( SELECT q.a
   FROM ( SELECT t.a
           FROM t
        UNION ALL
         VALUES (1), (2)) q;)sql",
     ""},
    {R"sql(values (1, 'x'::text) union all select a, c from t)sql", "",
     R"sql( VALUES (1,'x'::text)
UNION ALL
 SELECT t.a AS column1,
    t.c AS column2
   FROM t;)sql",
     ""},
    {R"sql(select a, b from t union all select a, t_a from u)sql", "p,q",
     R"sql( SELECT t.a AS p,
    t.b AS q
   FROM t
UNION ALL
 SELECT u.a AS p,
    u.t_a AS q
   FROM u;)sql",
     ""},
    {R"sql(select a from ((select a from t order by 1 limit 3) union (select a from u)) q order by a)sql",
     "",
     R"sql( SELECT q.a
   FROM (( SELECT t.a
           FROM t
          ORDER BY t.a
         LIMIT 3)
        UNION
         SELECT u.a
           FROM u) q
  ORDER BY q.a;)sql",
     ""},
    {R"sql(select 1 as k from t, (select 1 as a union select 2) q, lateral (values (t.a), (q.a)) v(z) where v.z > 1)sql",
     "",
     R"sql( SELECT 1 AS k
   FROM t,
    ( SELECT 1 AS a
        UNION
         SELECT 2) q,
    LATERAL ( VALUES (t.a), (q.a)) v(z)
  WHERE (v.z > 1);)sql",
     R"sql( SELECT 1 AS k
   FROM t,
    ( SELECT 1 AS a
        UNION
         SELECT 2) q,
    LATERAL ( VALUES (t.a), (q.a)) v(z)
  WHERE v.z > 1;)sql"},
    {R"sql(with q as (select 1 as k), q2 as (select * from q union all select k + 1 from q) select (select max(k) from q2) as m, (with q as (select 5 as z) select q.z from q) as n)sql",
     "",
     R"sql( WITH q AS (
         SELECT 1 AS k
        ), q2 AS (
         SELECT q.k
           FROM q
        UNION ALL
         SELECT (q.k + 1)
           FROM q
        )
 SELECT ( SELECT max(q2.k) AS max
           FROM q2) AS m,
    ( WITH q AS (
                 SELECT 5 AS z
                )
         SELECT q.z
           FROM q) AS n;)sql",
     R"sql( WITH q AS (
         SELECT 1 AS k
        ), q2 AS (
         SELECT q.k
           FROM q
        UNION ALL
         SELECT q.k + 1
           FROM q
        )
 SELECT ( SELECT max(q2.k) AS max
           FROM q2) AS m,
    ( WITH q AS (
                 SELECT 5 AS z
                )
         SELECT q.z
           FROM q) AS n;)sql"},
};

}  // namespace pgsilo::testing
