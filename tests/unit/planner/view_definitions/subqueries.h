// Subqueries in FROM, and those that stand for a value or a row. Texts are PostgreSQL 15's.
#pragma once

#include "tests/unit/planner/view_definitions/view_definition.h"

namespace pgsilo::testing {

inline constexpr ViewDefinition definitions_of_subqueries[] = {
    {R"sql(select a from t limit (select max(a) from u) offset 1 + 1)sql", "",
     R"sql( SELECT t.a
   FROM t
 OFFSET (1 + 1)
 LIMIT ( SELECT max(u.a) AS max
           FROM u);)sql",
     R"sql( SELECT t.a
   FROM t
 OFFSET (1 + 1)
 LIMIT (( SELECT max(u.a) AS max
           FROM u));)sql"},
    {R"sql(select q.a, q.k from (select a, b + 1 as k from t where b > 0) as q)sql", "",
     R"sql( SELECT q.a,
    q.k
   FROM ( SELECT t.a,
            (t.b + 1) AS k
           FROM t
          WHERE (t.b > 0)) q;)sql",
     R"sql( SELECT q.a,
    q.k
   FROM ( SELECT t.a,
            t.b + 1 AS k
           FROM t
          WHERE t.b > 0) q;)sql"},
    {R"sql(select q.m from (select a from t) as q(m))sql", "",
     R"sql( SELECT q.m
   FROM ( SELECT t.a
           FROM t) q(m);)sql",
     ""},
    {R"sql(select q.a from (select q.a from (select a from t where b = 1 order by a limit 2) q) q)sql",
     "",
     R"sql( SELECT q.a
   FROM ( SELECT q_1.a
           FROM ( SELECT t.a
                   FROM t
                  WHERE (t.b = 1)
                  ORDER BY t.a
                 LIMIT 2) q_1) q;)sql",
     R"sql( SELECT q.a
   FROM ( SELECT q_1.a
           FROM ( SELECT t.a
                   FROM t
                  WHERE t.b = 1
                  ORDER BY t.a
                 LIMIT 2) q_1) q;)sql"},
    {R"sql(select t.a, l.m from t, lateral (select max(u.a) as m from u where u.t_a = t.a) l)sql",
     "",
     R"sql( SELECT t.a,
    l.m
   FROM t,
    LATERAL ( SELECT max(u.a) AS m
           FROM u
          WHERE (u.t_a = t.a)) l;)sql",
     R"sql( SELECT t.a,
    l.m
   FROM t,
    LATERAL ( SELECT max(u.a) AS m
           FROM u
          WHERE u.t_a = t.a) l;)sql"},
    {R"sql(select t.a, l.m from t left join lateral (select max(u.a) as m from u where u.t_a = t.a) l on true)sql",
     "",
     R"sql( SELECT t.a,
    l.m
   FROM (t
     LEFT JOIN LATERAL ( SELECT max(u.a) AS m
           FROM u
          WHERE (u.t_a = t.a)) l ON (true));)sql",
     R"sql( SELECT t.a,
    l.m
   FROM t
     LEFT JOIN LATERAL ( SELECT max(u.a) AS m
           FROM u
          WHERE u.t_a = t.a) l ON true;)sql"},
    {R"sql(select a from t where (select max(a) from u) = b + 1)sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE (( SELECT max(u.a) AS max
           FROM u) = (t.b + 1));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE (( SELECT max(u.a) AS max
           FROM u)) = (t.b + 1);)sql"},
    {R"sql(select a from t where a = (select max(u.a) from u where u.t_a = t.a) and b is not null)sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.a = ( SELECT max(u.a) AS max
           FROM u
          WHERE (u.t_a = t.a))) AND (t.b IS NOT NULL));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE t.a = (( SELECT max(u.a) AS max
           FROM u
          WHERE u.t_a = t.a)) AND t.b IS NOT NULL;)sql"},
    {R"sql(select array(select a from u order by a) as l, (select count(*) from u) as n from t)sql",
     "",
     R"sql( SELECT ARRAY( SELECT u.a
           FROM u
          ORDER BY u.a) AS l,
    ( SELECT count(*) AS count
           FROM u) AS n
   FROM t;)sql",
     ""},
    {R"sql(select a, case b when 1 then (select max(v) from u) else c end as k from t)sql", "",
     R"sql( SELECT t.a,
        CASE t.b
            WHEN 1 THEN ( SELECT max(u.v) AS max
               FROM u)
            ELSE t.c
        END AS k
   FROM t;)sql",
     ""},
    {R"sql(select t.a, (select t_1.v from u t_1 where t_1.a = t.a) as v from t)sql", "",
     R"sql( SELECT t.a,
    ( SELECT t_1.v
           FROM u t_1
          WHERE (t_1.a = t.a)) AS v
   FROM t;)sql",
     R"sql( SELECT t.a,
    ( SELECT t_1.v
           FROM u t_1
          WHERE t_1.a = t.a) AS v
   FROM t;)sql"},
    {R"sql(select q.a from (select a from t) q for no key update skip locked)sql", "",
     R"sql( SELECT q.a
   FROM ( SELECT t.a
           FROM t) q
 FOR NO KEY UPDATE OF q SKIP LOCKED;)sql",
     ""},
    {R"sql(select a from w where u_a = any (arr) or u_a in (1, 2, 3) or n = any (array(select n from w)))sql",
     "",
     R"sql( SELECT w.a
   FROM w
  WHERE ((w.u_a = ANY (w.arr)) OR (w.u_a = ANY (ARRAY[1, 2, 3])) OR (w.n = ANY (ARRAY( SELECT w_1.n
           FROM w w_1))));)sql",
     R"sql( SELECT w.a
   FROM w
  WHERE (w.u_a = ANY (w.arr)) OR (w.u_a = ANY (ARRAY[1, 2, 3])) OR (w.n = ANY ((ARRAY( SELECT w_1.n
           FROM w w_1))));)sql"},
    {R"sql(select a from t where (a, b) = (select a, t_a from u limit 1))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.a, t.b) = ( SELECT u.a,
            u.t_a
           FROM u
         LIMIT 1));)sql",
     ""},
    {R"sql(select q.s from (select sum(d) as s, b from t group by b having sum(d) > 3) q order by q.s desc)sql",
     "",
     R"sql( SELECT q.s
   FROM ( SELECT sum(t.d) AS s,
            t.b
           FROM t
          GROUP BY t.b
         HAVING (sum(t.d) > 3)) q
  ORDER BY q.s DESC;)sql",
     R"sql( SELECT q.s
   FROM ( SELECT sum(t.d) AS s,
            t.b
           FROM t
          GROUP BY t.b
         HAVING sum(t.d) > 3) q
  ORDER BY q.s DESC;)sql"},
    {R"sql(select a from t where b = (select count(*) from u where u.t_a = t.a group by u.v order by count(*) limit 1))sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.b = ( SELECT count(*) AS count
           FROM u
          WHERE (u.t_a = t.a)
          GROUP BY u.v
          ORDER BY (count(*))
         LIMIT 1));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE t.b = (( SELECT count(*) AS count
           FROM u
          WHERE u.t_a = t.a
          GROUP BY u.v
          ORDER BY (count(*))
         LIMIT 1));)sql"},
    {R"sql(select (select (select max(w.a) from w where w.u_a = u.a and w.a > t.a) from u where u.t_a = t.a limit 1) as deep from t)sql",
     "",
     R"sql( SELECT ( SELECT ( SELECT max(w.a) AS max
                   FROM w
                  WHERE ((w.u_a = u.a) AND (w.a > t.a))) AS max
           FROM u
          WHERE (u.t_a = t.a)
         LIMIT 1) AS deep
   FROM t;)sql",
     R"sql( SELECT ( SELECT ( SELECT max(w.a) AS max
                   FROM w
                  WHERE w.u_a = u.a AND w.a > t.a) AS max
           FROM u
          WHERE u.t_a = t.a
         LIMIT 1) AS deep
   FROM t;)sql"},
    {R"sql(with q as (select a from t) select a from q order by a)sql", "one",
     R"sql( WITH q AS (
         SELECT t.a
           FROM t
        )
 SELECT q.a AS one
   FROM q
  ORDER BY q.a;)sql",
     ""},
    {R"sql(select a.a, a1.a as b, a_1.a as c from t a, t a1, (select a.a from t a) a_1)sql", "",
     R"sql( SELECT a.a,
    a1.a AS b,
    a_1.a AS c
   FROM t a,
    t a1,
    ( SELECT a_2.a
           FROM t a_2) a_1;)sql",
     ""},
    {R"sql(select coalesce((select v from u where u.a = t.a), case when e then 'y' else 'n' end, 'z') as k, a + case when e then 1 else 0 end as m from t)sql",
     "",
     R"sql( SELECT COALESCE(( SELECT u.v
           FROM u
          WHERE (u.a = t.a)),
        CASE
            WHEN t.e THEN 'y'::text
            ELSE 'n'::text
        END, 'z'::text) AS k,
    (t.a +
        CASE
            WHEN t.e THEN 1
            ELSE 0
        END) AS m
   FROM t;)sql",
     R"sql( SELECT COALESCE(( SELECT u.v
           FROM u
          WHERE u.a = t.a),
        CASE
            WHEN t.e THEN 'y'::text
            ELSE 'n'::text
        END, 'z'::text) AS k,
    t.a +
        CASE
            WHEN t.e THEN 1
            ELSE 0
        END AS m
   FROM t;)sql"},
    {R"sql(select a from t where (a, b) < (select 1, 2))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.a, t.b) < ( SELECT 1,
            2));)sql",
     ""},
    {R"sql(select a from t where array[a, b] = (select array_agg(u.a order by u.v) from u) and b = 2)sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((ARRAY[t.a, t.b] = ( SELECT array_agg(u.a ORDER BY u.v) AS array_agg
           FROM u)) AND (t.b = 2));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE ARRAY[t.a, t.b] = (( SELECT array_agg(u.a ORDER BY u.v) AS array_agg
           FROM u)) AND t.b = 2;)sql"},
    {R"sql(select lower(z.v) as lv from (select u.v from u where u.v is not null) z(v) group by lower(z.v) order by lower(z.v))sql",
     "",
     R"sql( SELECT lower(z.v) AS lv
   FROM ( SELECT u.v
           FROM u
          WHERE (u.v IS NOT NULL)) z(v)
  GROUP BY (lower(z.v))
  ORDER BY (lower(z.v));)sql",
     R"sql( SELECT lower(z.v) AS lv
   FROM ( SELECT u.v
           FROM u
          WHERE u.v IS NOT NULL) z(v)
  GROUP BY (lower(z.v))
  ORDER BY (lower(z.v));)sql"},
    {R"sql(select a from t where b > (select avg(d) from t t2 where t2.b = t.b) limit 10)sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.b)::numeric > ( SELECT avg(t2.d) AS avg
           FROM t t2
          WHERE (t2.b = t.b)))
 LIMIT 10;)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE t.b::numeric > (( SELECT avg(t2.d) AS avg
           FROM t t2
          WHERE t2.b = t.b))
 LIMIT 10;)sql"},
    {R"sql(select j.k from (t join lateral (select t.b + 1 as k from u where u.a = t.a) l on l.k > t.a) j)sql",
     "",
     R"sql( SELECT j.k
   FROM (t
     JOIN LATERAL ( SELECT (t.b + 1) AS k
           FROM u
          WHERE (u.a = t.a)) l ON ((l.k > t.a))) j;)sql",
     R"sql( SELECT j.k
   FROM (t
     JOIN LATERAL ( SELECT t.b + 1 AS k
           FROM u
          WHERE u.a = t.a) l ON l.k > t.a) j;)sql"},
    {R"sql(select a from t where b > 1 and (a, b) = (select a, t_a from u limit 1) and c is null)sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.b > 1) AND ((t.a, t.b) = ( SELECT u.a,
            u.t_a
           FROM u
         LIMIT 1)) AND (t.c IS NULL));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE t.b > 1 AND ((t.a, t.b) = ( SELECT u.a,
            u.t_a
           FROM u
         LIMIT 1)) AND t.c IS NULL;)sql"},
    {R"sql(select a from t where c = 'x' or (a, b) <> (select a, t_a from u limit 1))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.c = 'x'::text) OR ((t.a, t.b) <> ( SELECT u.a,
            u.t_a
           FROM u
         LIMIT 1)));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE t.c = 'x'::text OR ((t.a, t.b) <> ( SELECT u.a,
            u.t_a
           FROM u
         LIMIT 1));)sql"},
    {R"sql(select a from t where (a, b) <= (select a, t_a from u limit 1) and not ((a, d) = (select 1, 2)))sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE (((t.a, t.b) <= ( SELECT u.a,
            u.t_a
           FROM u
         LIMIT 1)) AND (NOT ((t.a, t.d) = ( SELECT 1,
            2))));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.a, t.b) <= ( SELECT u.a,
            u.t_a
           FROM u
         LIMIT 1)) AND NOT ((t.a, t.d) = ( SELECT 1,
            2));)sql"},
    {R"sql(select a from t where (a, b, d) >= (select a, t_a, 3 from u limit 1))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.a, t.b, t.d) >= ( SELECT u.a,
            u.t_a,
            3
           FROM u
         LIMIT 1));)sql",
     ""},
    {R"sql(select q.a from (select a from t for update) q)sql", "",
     R"sql( SELECT q.a
   FROM ( SELECT t.a
           FROM t
         FOR UPDATE OF t) q;)sql",
     ""},
    {R"sql(select q.a from (select t.a from t, u) q for update)sql", "",
     R"sql( SELECT q.a
   FROM ( SELECT t.a
           FROM t,
            u) q
 FOR UPDATE OF q;)sql",
     ""},
    {R"sql(select t.a, (select u.v from u where u.a = t.a order by u.v limit 1) as v, (select array_agg(u.a order by u.v desc nulls last) from u where u.t_a = t.a) as l from t where t.d in (1, 2))sql",
     "",
     R"sql( SELECT t.a,
    ( SELECT u.v
           FROM u
          WHERE (u.a = t.a)
          ORDER BY u.v
         LIMIT 1) AS v,
    ( SELECT array_agg(u.a ORDER BY u.v DESC NULLS LAST) AS array_agg
           FROM u
          WHERE (u.t_a = t.a)) AS l
   FROM t
  WHERE (t.d = ANY (ARRAY[1, 2]));)sql",
     R"sql( SELECT t.a,
    ( SELECT u.v
           FROM u
          WHERE u.a = t.a
          ORDER BY u.v
         LIMIT 1) AS v,
    ( SELECT array_agg(u.a ORDER BY u.v DESC NULLS LAST) AS array_agg
           FROM u
          WHERE u.t_a = t.a) AS l
   FROM t
  WHERE t.d = ANY (ARRAY[1, 2]);)sql"},
    {R"sql(select count(*) as n from (select distinct on (b) b, c from t order by b, c) q group by q.c order by count(*) desc, max(q.b) nulls first)sql",
     "",
     R"sql( SELECT count(*) AS n
   FROM ( SELECT DISTINCT ON (t.b) t.b,
            t.c
           FROM t
          ORDER BY t.b, t.c) q
  GROUP BY q.c
  ORDER BY (count(*)) DESC, (max(q.b)) NULLS FIRST;)sql",
     ""},
    {R"sql(select g.x, h.y from generate_series(1, 3) g(x), lateral generate_series(g.x, 4) h(y), lateral (select g.x + h.y as z) k where k.z > 2)sql",
     "",
     R"sql( SELECT g.x,
    h.y
   FROM generate_series(1, 3) g(x),
    LATERAL generate_series(g.x, 4) h(y),
    LATERAL ( SELECT (g.x + h.y) AS z) k
  WHERE (k.z > 2);)sql",
     R"sql( SELECT g.x,
    h.y
   FROM generate_series(1, 3) g(x),
    LATERAL generate_series(g.x, 4) h(y),
    LATERAL ( SELECT g.x + h.y AS z) k
  WHERE k.z > 2;)sql"},
    {R"sql(select array(select b from t where a = 1)::text as x, (array(select 1))[1] as y, (select arr from w limit 1)[1] as z)sql",
     "",
     R"sql( SELECT (ARRAY( SELECT t.b
           FROM t
          WHERE (t.a = 1)))::text AS x,
    (ARRAY( SELECT 1))[1] AS y,
    (( SELECT w.arr
           FROM w
         LIMIT 1))[1] AS z;)sql",
     R"sql( SELECT (ARRAY( SELECT t.b
           FROM t
          WHERE t.a = 1))::text AS x,
    (ARRAY( SELECT 1))[1] AS y,
    (( SELECT w.arr
           FROM w
         LIMIT 1))[1] AS z;)sql"},
    {R"sql(select a from t limit 3 + 2 offset (select count(*) from u))sql", "",
     R"sql( SELECT t.a
   FROM t
 OFFSET ( SELECT count(*) AS count
           FROM u)
 LIMIT (3 + 2);)sql",
     ""},
    {R"sql(select a from t where ((a, b) = (select a, t_a from u limit 1)) is not true and (a, b) <> (select 1, 2) and (d, a) = (select 3, 4))sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((((t.a, t.b) = ( SELECT u.a,
            u.t_a
           FROM u
         LIMIT 1)) IS NOT TRUE) AND ((t.a, t.b) <> ( SELECT 1,
            2)) AND ((t.d, t.a) = ( SELECT 3,
            4)));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE (((t.a, t.b) = ( SELECT u.a,
            u.t_a
           FROM u
         LIMIT 1))) IS NOT TRUE AND ((t.a, t.b) <> ( SELECT 1,
            2)) AND ((t.d, t.a) = ( SELECT 3,
            4));)sql"},
};

}  // namespace pgsilo::testing
