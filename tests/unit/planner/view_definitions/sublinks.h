// EXISTS, IN, ANY and ALL of subqueries. Texts are PostgreSQL 15's.
#pragma once

#include "tests/unit/planner/view_definitions/view_definition.h"

namespace pgsilo::testing {

inline constexpr ViewDefinition definitions_of_sublinks[] = {
    {R"sql(select a from t where exists (select 1 from u where u.t_a = t.a))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE (EXISTS ( SELECT 1
           FROM u
          WHERE (u.t_a = t.a)));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE (EXISTS ( SELECT 1
           FROM u
          WHERE u.t_a = t.a));)sql"},
    {R"sql(select a from t where not exists (select * from u where u.t_a = t.a and exists (select 1 from w where w.u_a = u.a and w.n > t.b)))sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE (NOT (EXISTS ( SELECT u.a,
            u.t_a,
            u.v
           FROM u
          WHERE ((u.t_a = t.a) AND (EXISTS ( SELECT 1
                   FROM w
                  WHERE ((w.u_a = u.a) AND (w.n > (t.b)::numeric))))))));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE NOT (EXISTS ( SELECT u.a,
            u.t_a,
            u.v
           FROM u
          WHERE u.t_a = t.a AND (EXISTS ( SELECT 1
                   FROM w
                  WHERE w.u_a = u.a AND w.n > t.b::numeric))));)sql"},
    {R"sql(select a from t where a in (select t_a from u))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.a IN ( SELECT u.t_a
           FROM u));)sql",
     ""},
    {R"sql(select a from t where a not in (select t_a from u where v is not null))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE (NOT (t.a IN ( SELECT u.t_a
           FROM u
          WHERE (u.v IS NOT NULL))));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE NOT (t.a IN ( SELECT u.t_a
           FROM u
          WHERE u.v IS NOT NULL));)sql"},
    {R"sql(select a from t where (a, b) in (select a, t_a from u))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.a, t.b) IN ( SELECT u.a,
            u.t_a
           FROM u));)sql",
     ""},
    {R"sql(select a from t where (a, b) not in (select a, t_a from u))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE (NOT ((t.a, t.b) IN ( SELECT u.a,
            u.t_a
           FROM u)));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE NOT ((t.a, t.b) IN ( SELECT u.a,
            u.t_a
           FROM u));)sql"},
    {R"sql(select a from t where a > any (select a from u) or b <= all (select t_a from u))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.a > ANY ( SELECT u.a
           FROM u)) OR (t.b <= ALL ( SELECT u.t_a
           FROM u)));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.a > ANY ( SELECT u.a
           FROM u)) OR (t.b <= ALL ( SELECT u.t_a
           FROM u));)sql"},
    {R"sql(select a from t where a <> all (select t_a from u))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.a <> ALL ( SELECT u.t_a
           FROM u));)sql",
     ""},
    {R"sql(select case when exists (select 1 from u) then 1 else 2 end as k)sql", "",
     R"sql( SELECT
        CASE
            WHEN (EXISTS ( SELECT 1
               FROM u)) THEN 1
            ELSE 2
        END AS k;)sql",
     ""},
    {R"sql(select a from w where u_a = any ((select arr from w limit 1)::int[]))sql", "",
     R"sql( SELECT w.a
   FROM w
  WHERE (w.u_a = ANY (( SELECT w_1.arr
           FROM w w_1
         LIMIT 1)::integer[]));)sql",
     R"sql( SELECT w.a
   FROM w
  WHERE w.u_a = ANY ((( SELECT w_1.arr
           FROM w w_1
         LIMIT 1))::integer[]);)sql"},
    {R"sql(select (select count(*) from u where u.t_a = t.a) as n, exists (select 1 from w where w.u_a = t.a) as ex from t order by (select count(*) from u where u.t_a = t.a))sql",
     "",
     R"sql( SELECT ( SELECT count(*) AS count
           FROM u
          WHERE (u.t_a = t.a)) AS n,
    (EXISTS ( SELECT 1
           FROM w
          WHERE (w.u_a = t.a))) AS ex
   FROM t
  ORDER BY ( SELECT count(*) AS count
           FROM u
          WHERE (u.t_a = t.a));)sql",
     R"sql( SELECT ( SELECT count(*) AS count
           FROM u
          WHERE u.t_a = t.a) AS n,
    (EXISTS ( SELECT 1
           FROM w
          WHERE w.u_a = t.a)) AS ex
   FROM t
  ORDER BY (( SELECT count(*) AS count
           FROM u
          WHERE u.t_a = t.a));)sql"},
    {R"sql(select a from t where b in (select b from t where d > 1 group by b having count(*) > 1))sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.b IN ( SELECT t_1.b
           FROM t t_1
          WHERE (t_1.d > 1)
          GROUP BY t_1.b
         HAVING (count(*) > 1)));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.b IN ( SELECT t_1.b
           FROM t t_1
          WHERE t_1.d > 1
          GROUP BY t_1.b
         HAVING count(*) > 1));)sql"},
    {R"sql(select a from t where a in (select t_a from u where u.v = t.c and exists (select 1 from t where t.b = u.a)))sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.a IN ( SELECT u.t_a
           FROM u
          WHERE ((u.v = t.c) AND (EXISTS ( SELECT 1
                   FROM t t_1
                  WHERE (t_1.b = u.a))))));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.a IN ( SELECT u.t_a
           FROM u
          WHERE u.v = t.c AND (EXISTS ( SELECT 1
                   FROM t t_1
                  WHERE t_1.b = u.a))));)sql"},
    {R"sql(select a from t where exists (select from u) for share of t skip locked)sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE (EXISTS ( SELECT
           FROM u))
 FOR SHARE OF t SKIP LOCKED;)sql",
     ""},
    {R"sql(select a.a, (select b.a from t b where b.a in (select a.b from t a where a.b = b.b)) as x from t a)sql",
     "",
     R"sql( SELECT a.a,
    ( SELECT b.a
           FROM t b
          WHERE (b.a IN ( SELECT a_1.b
                   FROM t a_1
                  WHERE (a_1.b = b.b)))) AS x
   FROM t a;)sql",
     R"sql( SELECT a.a,
    ( SELECT b.a
           FROM t b
          WHERE (b.a IN ( SELECT a_1.b
                   FROM t a_1
                  WHERE a_1.b = b.b))) AS x
   FROM t a;)sql"},
    {R"sql(select case when a > 1 then case b when 2 then 'p' else 'q' end else (case when e then 'r' end) end as k, case when b in (select t_a from u) then 1 end as l from t)sql",
     "",
     R"sql( SELECT
        CASE
            WHEN (t.a > 1) THEN
            CASE t.b
                WHEN 2 THEN 'p'::text
                ELSE 'q'::text
            END
            ELSE
            CASE
                WHEN t.e THEN 'r'::text
                ELSE NULL::text
            END
        END AS k,
        CASE
            WHEN (t.b IN ( SELECT u.t_a
               FROM u)) THEN 1
            ELSE NULL::integer
        END AS l
   FROM t;)sql",
     R"sql( SELECT
        CASE
            WHEN t.a > 1 THEN
            CASE t.b
                WHEN 2 THEN 'p'::text
                ELSE 'q'::text
            END
            ELSE
            CASE
                WHEN t.e THEN 'r'::text
                ELSE NULL::text
            END
        END AS k,
        CASE
            WHEN (t.b IN ( SELECT u.t_a
               FROM u)) THEN 1
            ELSE NULL::integer
        END AS l
   FROM t;)sql"},
    {R"sql(select a from t where (a, b, d) > all (select a, t_a, 1 from u))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.a, t.b, t.d) > ALL ( SELECT u.a,
            u.t_a,
            1
           FROM u));)sql",
     ""},
    {R"sql(select a from t where not exists (select 1 from u where u.t_a = t.a) and b = all (select d from t))sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((NOT (EXISTS ( SELECT 1
           FROM u
          WHERE (u.t_a = t.a)))) AND (t.b = ALL ( SELECT t_1.d
           FROM t t_1)));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE NOT (EXISTS ( SELECT 1
           FROM u
          WHERE u.t_a = t.a)) AND (t.b = ALL ( SELECT t_1.d
           FROM t t_1));)sql"},
    {R"sql(select not exists (select 1 from u) as none, (select true) and exists (select 1 from w) as both, (select a from t limit 1) is null as nl, -(select 1) as neg, (select 2) + 3 as five)sql",
     "",
     R"sql( SELECT (NOT (EXISTS ( SELECT 1
           FROM u))) AS "none",
    (( SELECT true) AND (EXISTS ( SELECT 1
           FROM w))) AS "both",
    (( SELECT t.a
           FROM t
         LIMIT 1) IS NULL) AS nl,
    (- ( SELECT 1)) AS neg,
    (( SELECT 2) + 3) AS five;)sql",
     R"sql( SELECT NOT (EXISTS ( SELECT 1
           FROM u)) AS "none",
    ( SELECT true) AND (EXISTS ( SELECT 1
           FROM w)) AS "both",
    (( SELECT t.a
           FROM t
         LIMIT 1)) IS NULL AS nl,
    - (( SELECT 1)) AS neg,
    (( SELECT 2)) + 3 AS five;)sql"},
    {R"sql(select a from t where exists (select 1 from u where u.t_a in (select w.u_a from w where w.a in (select t2.b from t t2 where t2.a in (select u2.a from u u2 where u2.t_a in (select w2.u_a from w w2 where w2.a = (select max(t3.a) from t t3 where t3.b = t2.b and case when t3.e then true else exists (select 1 from u u3 where u3.a = u2.a) end)))))))sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE (EXISTS ( SELECT 1
           FROM u
          WHERE (u.t_a IN ( SELECT w.u_a
                   FROM w
                  WHERE (w.a IN ( SELECT t2.b
                           FROM t t2
                          WHERE (t2.a IN ( SELECT u2.a
                                   FROM u u2
                                  WHERE (u2.t_a IN ( SELECT w2.u_a
   FROM w w2
  WHERE (w2.a = ( SELECT max(t3.a) AS max
     FROM t t3
    WHERE ((t3.b = t2.b) AND
    CASE
     WHEN t3.e THEN true
     ELSE (EXISTS ( SELECT 1
        FROM u u3
       WHERE (u3.a = u2.a)))
    END)))))))))))));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE (EXISTS ( SELECT 1
           FROM u
          WHERE (u.t_a IN ( SELECT w.u_a
                   FROM w
                  WHERE (w.a IN ( SELECT t2.b
                           FROM t t2
                          WHERE (t2.a IN ( SELECT u2.a
                                   FROM u u2
                                  WHERE (u2.t_a IN ( SELECT w2.u_a
   FROM w w2
  WHERE w2.a = (( SELECT max(t3.a) AS max
     FROM t t3
    WHERE t3.b = t2.b AND
    CASE
     WHEN t3.e THEN true
     ELSE (EXISTS ( SELECT 1
        FROM u u3
       WHERE u3.a = u2.a))
    END))))))))))));)sql"},
    {R"sql(select a_very_long_name_for_a_relation_that_takes_all_sixty_three_bytes.a from t a_very_long_name_for_a_relation_that_takes_all_sixty_three_bytes where exists (select 1 from u a_very_long_name_for_a_relation_that_takes_all_sixty_three_bytes))sql",
     "",
     R"sql( SELECT a_very_long_name_for_a_relation_that_takes_all_sixty_three_byte.a
   FROM t a_very_long_name_for_a_relation_that_takes_all_sixty_three_byte
  WHERE (EXISTS ( SELECT 1
           FROM u a_very_long_name_for_a_relation_that_takes_all_sixty_three_by_1));)sql",
     ""},
    {R"sql(select a from t where b = any (select t_a from u) and b <> all (array(select a from u)) and c ~~ all (array['a%', 'b%']))sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.b IN ( SELECT u.t_a
           FROM u)) AND (t.b <> ALL (ARRAY( SELECT u.a
           FROM u))) AND (t.c ~~ ALL (ARRAY['a%'::text, 'b%'::text])));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.b IN ( SELECT u.t_a
           FROM u)) AND (t.b <> ALL ((ARRAY( SELECT u.a
           FROM u)))) AND (t.c ~~ ALL (ARRAY['a%'::text, 'b%'::text]));)sql"},
};

}  // namespace pgsilo::testing
