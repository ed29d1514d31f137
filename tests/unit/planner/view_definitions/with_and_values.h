// WITH and VALUES. Texts are PostgreSQL 15's.
#pragma once

#include "tests/unit/planner/view_definitions/view_definition.h"

namespace pgsilo::testing {

inline constexpr ViewDefinition definitions_of_with_and_values[] = {
    {R"sql(with q as (select a, b from t) select q.a from q)sql", "",
     R"sql( WITH q AS (
         SELECT t.a,
            t.b
           FROM t
        )
 SELECT q.a
   FROM q;)sql",
     ""},
    {R"sql(with q(x, y) as (select a, b from t), r as (select x from q where y > 1) select r.x, q.y from r join q on q.x = r.x)sql",
     "",
     R"sql( WITH q(x, y) AS (
         SELECT t.a,
            t.b
           FROM t
        ), r AS (
         SELECT q_1.x
           FROM q q_1
          WHERE (q_1.y > 1)
        )
 SELECT r.x,
    q.y
   FROM (r
     JOIN q ON ((q.x = r.x)));)sql",
     R"sql( WITH q(x, y) AS (
         SELECT t.a,
            t.b
           FROM t
        ), r AS (
         SELECT q_1.x
           FROM q q_1
          WHERE q_1.y > 1
        )
 SELECT r.x,
    q.y
   FROM r
     JOIN q ON q.x = r.x;)sql"},
    {R"sql(select a from t where a in (with q as (select a from u) select q.a from q))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.a IN ( WITH q AS (
                 SELECT u.a
                   FROM u
                )
         SELECT q.a
           FROM q));)sql",
     ""},
    {R"sql(with t as (select a from u) select t.a, (select max(a) from s.t) as m from t)sql", "",
     R"sql( WITH t AS (
         SELECT u.a
           FROM u
        )
 SELECT t.a,
    ( SELECT max(t_1.a) AS max
           FROM s.t t_1) AS m
   FROM t;)sql",
     ""},
    {R"sql(with q as (select 1 as k) select q1.k, q.k as k2 from q as q1, q)sql", "",
     R"sql( WITH q AS (
         SELECT 1 AS k
        )
 SELECT q1.k,
    q.k AS k2
   FROM q q1,
    q;)sql",
     ""},
    {R"sql(values (1, 'a'), (2, 'b'))sql", "", R"sql( VALUES (1,'a'::text), (2,'b'::text);)sql",
     ""},
    {R"sql(values (1 + 1, null), (2, 'x'::text) order by 1 limit 1)sql", "",
     R"sql( VALUES ((1 + 1),NULL::text), (2,'x'::text)
  ORDER BY "*VALUES*".column1
 LIMIT 1;)sql",
     R"sql( VALUES (1 + 1,NULL::text), (2,'x'::text)
  ORDER BY "*VALUES*".column1
 LIMIT 1;)sql"},
    {R"sql(select v.a, v.b from (values (1, 'x'), (2, 'y')) as v(a, b))sql", "",
     R"sql( SELECT v.a,
    v.b
   FROM ( VALUES (1,'x'::text), (2,'y'::text)) v(a, b);)sql",
     ""},
    {R"sql(select * from (values (1, 2), (3, 4)) as v)sql", "",
     R"sql( SELECT v.column1,
    v.column2
   FROM ( VALUES (1,2), (3,4)) v;)sql",
     ""},
    {R"sql(with a as (select 1 as x), b as (with c as (select x + 1 as y from a) select y from c) select a.x, b.y from a, b order by 1)sql",
     "",
     R"sql( WITH a AS (
         SELECT 1 AS x
        ), b AS (
         WITH c AS (
                 SELECT (a_1.x + 1) AS y
                   FROM a a_1
                )
         SELECT c.y
           FROM c
        )
 SELECT a.x,
    b.y
   FROM a,
    b
  ORDER BY a.x;)sql",
     R"sql( WITH a AS (
         SELECT 1 AS x
        ), b AS (
         WITH c AS (
                 SELECT a_1.x + 1 AS y
                   FROM a a_1
                )
         SELECT c.y
           FROM c
        )
 SELECT a.x,
    b.y
   FROM a,
    b
  ORDER BY a.x;)sql"},
    {R"sql(with recent as (select a from t order by a desc limit 3) select r.a, (select count(*) from recent) as n from recent r where exists (select 1 from recent x where x.a = r.a))sql",
     "",
     R"sql( WITH recent AS (
         SELECT t.a
           FROM t
          ORDER BY t.a DESC
         LIMIT 3
        )
 SELECT r.a,
    ( SELECT count(*) AS count
           FROM recent) AS n
   FROM recent r
  WHERE (EXISTS ( SELECT 1
           FROM recent x
          WHERE (x.a = r.a)));)sql",
     R"sql( WITH recent AS (
         SELECT t.a
           FROM t
          ORDER BY t.a DESC
         LIMIT 3
        )
 SELECT r.a,
    ( SELECT count(*) AS count
           FROM recent) AS n
   FROM recent r
  WHERE (EXISTS ( SELECT 1
           FROM recent x
          WHERE x.a = r.a));)sql"},
    {R"sql(select x.a, x.b from (values (1, 'one'), (2, 'two')) x(a, b) where x.a > (select min(v.c) from (values (0), (1)) v(c)))sql",
     "",
     R"sql( SELECT x.a,
    x.b
   FROM ( VALUES (1,'one'::text), (2,'two'::text)) x(a, b)
  WHERE (x.a > ( SELECT min(v.c) AS min
           FROM ( VALUES (0), (1)) v(c)));)sql",
     R"sql( SELECT x.a,
    x.b
   FROM ( VALUES (1,'one'::text), (2,'two'::text)) x(a, b)
  WHERE x.a > (( SELECT min(v.c) AS min
           FROM ( VALUES (0), (1)) v(c)));)sql"},
    {R"sql(select a from t where a in (values (1), (2)) or b in (select column1 from (values (3)) q))sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.a IN ( VALUES (1), (2))) OR (t.b IN ( SELECT q.column1
           FROM ( VALUES (3)) q)));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.a IN ( VALUES (1), (2))) OR (t.b IN ( SELECT q.column1
           FROM ( VALUES (3)) q));)sql"},
    {R"sql(values (1, 2), (3, 4) order by 2 desc, column1 limit 1)sql", "",
     R"sql( VALUES (1,2), (3,4)
  ORDER BY "*VALUES*".column2 DESC, "*VALUES*".column1
 LIMIT 1;)sql",
     ""},
};

}  // namespace pgsilo::testing
