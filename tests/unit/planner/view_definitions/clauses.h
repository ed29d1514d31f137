// GROUP BY, HAVING, DISTINCT, ORDER BY, LIMIT, FOR UPDATE, aggregates. Texts are PostgreSQL 15's.
#pragma once

#include "tests/unit/planner/view_definitions/view_definition.h"

namespace pgsilo::testing {

inline constexpr ViewDefinition definitions_of_clauses[] = {
    {R"sql(select b, count(*) as n, sum(d) as s from t group by b)sql", "",
     R"sql( SELECT t.b,
    count(*) AS n,
    sum(t.d) AS s
   FROM t
  GROUP BY t.b;)sql",
     ""},
    {R"sql(select b + 1 as k, count(distinct c) as n, max(a) filter (where e) as m from t group by b + 1 having count(*) > 1 order by 2 desc, 1)sql",
     "",
     R"sql( SELECT (t.b + 1) AS k,
    count(DISTINCT t.c) AS n,
    max(t.a) FILTER (WHERE t.e) AS m
   FROM t
  GROUP BY (t.b + 1)
 HAVING (count(*) > 1)
  ORDER BY (count(DISTINCT t.c)) DESC, (t.b + 1);)sql",
     R"sql( SELECT t.b + 1 AS k,
    count(DISTINCT t.c) AS n,
    max(t.a) FILTER (WHERE t.e) AS m
   FROM t
  GROUP BY (t.b + 1)
 HAVING count(*) > 1
  ORDER BY (count(DISTINCT t.c)) DESC, (t.b + 1);)sql"},
    {R"sql(select c, array_agg(a order by b desc, d) as l, string_agg(c, ',' order by c) as s from t group by c)sql",
     "",
     R"sql( SELECT t.c,
    array_agg(t.a ORDER BY t.b DESC, t.d) AS l,
    string_agg(t.c, ','::text ORDER BY t.c) AS s
   FROM t
  GROUP BY t.c;)sql",
     ""},
    {R"sql(select upper(c) as uc, count(*) from t group by upper(c), 1 order by upper(c) desc nulls last)sql",
     "",
     R"sql( SELECT upper(t.c) AS uc,
    count(*) AS count
   FROM t
  GROUP BY (upper(t.c))
  ORDER BY (upper(t.c)) DESC NULLS LAST;)sql",
     ""},
    {R"sql(select coalesce(b, 0) as k from t group by coalesce(b, 0))sql", "",
     R"sql( SELECT COALESCE(t.b, 0) AS k
   FROM t
  GROUP BY COALESCE(t.b, 0);)sql",
     R"sql( SELECT COALESCE(t.b, 0) AS k
   FROM t
  GROUP BY (COALESCE(t.b, 0));)sql"},
    {R"sql(select count(*) from t having count(*) > 5)sql", "",
     R"sql( SELECT count(*) AS count
   FROM t
 HAVING (count(*) > 5);)sql",
     R"sql( SELECT count(*) AS count
   FROM t
 HAVING count(*) > 5;)sql"},
    {R"sql(select distinct b, c from t order by c, b desc)sql", "",
     R"sql( SELECT DISTINCT t.b,
    t.c
   FROM t
  ORDER BY t.c, t.b DESC;)sql",
     ""},
    {R"sql(select distinct on (b) b, a, c from t order by b, a desc)sql", "",
     R"sql( SELECT DISTINCT ON (t.b) t.b,
    t.a,
    t.c
   FROM t
  ORDER BY t.b, t.a DESC;)sql",
     ""},
    {R"sql(select distinct on (b + 1, c) a from t)sql", "",
     R"sql( SELECT DISTINCT ON ((t.b + 1), t.c) t.a
   FROM t;)sql",
     ""},
    {R"sql(select a from t order by b nulls first, c desc nulls last, d desc, e nulls last)sql", "",
     R"sql( SELECT t.a
   FROM t
  ORDER BY t.b NULLS FIRST, t.c DESC NULLS LAST, t.d DESC, t.e;)sql",
     ""},
    {R"sql(select a from t order by 'x'::text, lower(c), a + 1)sql", "",
     R"sql( SELECT t.a
   FROM t
  ORDER BY 'x'::text, (lower(t.c)), (t.a + 1);)sql",
     ""},
    {R"sql(select a from t limit 5)sql", "",
     R"sql( SELECT t.a
   FROM t
 LIMIT 5;)sql",
     ""},
    {R"sql(select a from t order by a offset 2 limit 10)sql", "",
     R"sql( SELECT t.a
   FROM t
  ORDER BY t.a
 OFFSET 2
 LIMIT 10;)sql",
     ""},
    {R"sql(select a from t limit all)sql", "",
     R"sql( SELECT t.a
   FROM t
 LIMIT ALL;)sql",
     ""},
    {R"sql(select a from t fetch first 3 rows only)sql", "",
     R"sql( SELECT t.a
   FROM t
 LIMIT 3;)sql",
     ""},
    {R"sql(select a from t for update)sql", "",
     R"sql( SELECT t.a
   FROM t
 FOR UPDATE OF t;)sql",
     ""},
    {R"sql(select t.a from t, u where t.a = u.a for share of u nowait)sql", "",
     R"sql( SELECT t.a
   FROM t,
    u
  WHERE (t.a = u.a)
 FOR SHARE OF u NOWAIT;)sql",
     R"sql( SELECT t.a
   FROM t,
    u
  WHERE t.a = u.a
 FOR SHARE OF u NOWAIT;)sql"},
    {R"sql(select count(*) filter (where a > 1 and e) as n, count(*) as m from t)sql", "",
     R"sql( SELECT count(*) FILTER (WHERE ((t.a > 1) AND t.e)) AS n,
    count(*) AS m
   FROM t;)sql",
     R"sql( SELECT count(*) FILTER (WHERE t.a > 1 AND t.e) AS n,
    count(*) AS m
   FROM t;)sql"},
    {R"sql(select a from t where b is distinct from d or b is not distinct from 3 or e is true or e is not unknown)sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.b IS DISTINCT FROM t.d) OR (NOT (t.b IS DISTINCT FROM 3)) OR (t.e IS TRUE) OR (t.e IS NOT UNKNOWN));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE t.b IS DISTINCT FROM t.d OR NOT t.b IS DISTINCT FROM 3 OR t.e IS TRUE OR t.e IS NOT UNKNOWN;)sql"},
    {R"sql(select distinct t.a, coalesce(u.v, 'none') as v from t left join u on u.t_a = t.a order by coalesce(u.v, 'none'), t.a)sql",
     "",
     R"sql( SELECT DISTINCT t.a,
    COALESCE(u.v, 'none'::text) AS v
   FROM (t
     LEFT JOIN u ON ((u.t_a = t.a)))
  ORDER BY COALESCE(u.v, 'none'::text), t.a;)sql",
     R"sql( SELECT DISTINCT t.a,
    COALESCE(u.v, 'none'::text) AS v
   FROM t
     LEFT JOIN u ON u.t_a = t.a
  ORDER BY (COALESCE(u.v, 'none'::text)), t.a;)sql"},
    {R"sql(select a from t order by 1)sql", "",
     R"sql( SELECT t.a
   FROM t
  ORDER BY t.a;)sql",
     ""},
    {R"sql(select a as k, b from t order by k, b + 1 desc nulls last limit 3 offset 1)sql", "",
     R"sql( SELECT t.a AS k,
    t.b
   FROM t
  ORDER BY t.a, (t.b + 1) DESC NULLS LAST
 OFFSET 1
 LIMIT 3;)sql",
     ""},
    {R"sql(select count(distinct b) filter (where d > 0) as n, string_agg(distinct c, '-' order by c desc) as s, bool_and(e) as ba, avg(d) as av from t)sql",
     "",
     R"sql( SELECT count(DISTINCT t.b) FILTER (WHERE (t.d > 0)) AS n,
    string_agg(DISTINCT t.c, '-'::text ORDER BY t.c DESC) AS s,
    bool_and(t.e) AS ba,
    avg(t.d) AS av
   FROM t;)sql",
     R"sql( SELECT count(DISTINCT t.b) FILTER (WHERE t.d > 0) AS n,
    string_agg(DISTINCT t.c, '-'::text ORDER BY t.c DESC) AS s,
    bool_and(t.e) AS ba,
    avg(t.d) AS av
   FROM t;)sql"},
    {R"sql(select b, max(d) as m from t where c <> '' group by b, c having count(*) > 1 and max(d) < 9 order by max(d), b limit 2)sql",
     "",
     R"sql( SELECT t.b,
    max(t.d) AS m
   FROM t
  WHERE (t.c <> ''::text)
  GROUP BY t.b, t.c
 HAVING ((count(*) > 1) AND (max(t.d) < 9))
  ORDER BY (max(t.d)), t.b
 LIMIT 2;)sql",
     R"sql( SELECT t.b,
    max(t.d) AS m
   FROM t
  WHERE t.c <> ''::text
  GROUP BY t.b, t.c
 HAVING count(*) > 1 AND max(t.d) < 9
  ORDER BY (max(t.d)), t.b
 LIMIT 2;)sql"},
    {R"sql(select t.b, count(u.a) as n from t left join u on u.t_a = t.a group by t.b)sql", "",
     R"sql( SELECT t.b,
    count(u.a) AS n
   FROM (t
     LEFT JOIN u ON ((u.t_a = t.a)))
  GROUP BY t.b;)sql",
     R"sql( SELECT t.b,
    count(u.a) AS n
   FROM t
     LEFT JOIN u ON u.t_a = t.a
  GROUP BY t.b;)sql"},
    {R"sql(select t.a, count(*) from t group by t.a)sql", "k,l",
     R"sql( SELECT t.a AS k,
    count(*) AS l
   FROM t
  GROUP BY t.a;)sql",
     ""},
    {R"sql(select a, unnest(array[a, b]) as el from t order by 2)sql", "",
     R"sql( SELECT t.a,
    unnest(ARRAY[t.a, t.b]) AS el
   FROM t
  ORDER BY (unnest(ARRAY[t.a, t.b]));)sql",
     ""},
    {R"sql(select t.a from t join u on t.a = u.a for key share)sql", "",
     R"sql( SELECT t.a
   FROM (t
     JOIN u ON ((t.a = u.a)))
 FOR KEY SHARE OF t
 FOR KEY SHARE OF u;)sql",
     R"sql( SELECT t.a
   FROM t
     JOIN u ON t.a = u.a
 FOR KEY SHARE OF t
 FOR KEY SHARE OF u;)sql"},
    {R"sql(select sum(case when e then d else 0 end) as s, count(*) filter (where c in ('a', 'b')) as n from t)sql",
     "",
     R"sql( SELECT sum(
        CASE
            WHEN t.e THEN t.d
            ELSE 0
        END) AS s,
    count(*) FILTER (WHERE (t.c = ANY (ARRAY['a'::text, 'b'::text]))) AS n
   FROM t;)sql",
     R"sql( SELECT sum(
        CASE
            WHEN t.e THEN t.d
            ELSE 0
        END) AS s,
    count(*) FILTER (WHERE t.c = ANY (ARRAY['a'::text, 'b'::text])) AS n
   FROM t;)sql"},
    {R"sql(select a from t group by a)sql", "",
     R"sql( SELECT t.a
   FROM t
  GROUP BY t.a;)sql",
     ""},
    {R"sql(select t.a, t.c from t group by t.a order by t.c)sql", "",
     R"sql( SELECT t.a,
    t.c
   FROM t
  GROUP BY t.a
  ORDER BY t.c;)sql",
     ""},
    {R"sql(select w.n, w.n::numeric(5,1) as n1, n * 2 as n2, n::float8 as f, sum(n) over_ from w group by w.n)sql",
     "",
     R"sql( SELECT w.n,
    (w.n)::numeric(5,1) AS n1,
    (w.n * (2)::numeric) AS n2,
    (w.n)::double precision AS f,
    sum(w.n) AS over_
   FROM w
  GROUP BY w.n;)sql",
     R"sql( SELECT w.n,
    w.n::numeric(5,1) AS n1,
    w.n * 2::numeric AS n2,
    w.n::double precision AS f,
    sum(w.n) AS over_
   FROM w
  GROUP BY w.n;)sql"},
    {R"sql(select distinct on (lower(c)) lower(c) as lc, a from t order by lower(c), a desc)sql",
     "",
     R"sql( SELECT DISTINCT ON ((lower(t.c))) lower(t.c) AS lc,
    t.a
   FROM t
  ORDER BY (lower(t.c)), t.a DESC;)sql",
     ""},
    {R"sql(select lower(c) as a, upper(c) as b from t group by lower(c), upper(c) having max(a) > 1 or min(b) is null)sql",
     "",
     R"sql( SELECT lower(t.c) AS a,
    upper(t.c) AS b
   FROM t
  GROUP BY (lower(t.c)), (upper(t.c))
 HAVING ((max(t.a) > 1) OR (min(t.b) IS NULL));)sql",
     R"sql( SELECT lower(t.c) AS a,
    upper(t.c) AS b
   FROM t
  GROUP BY (lower(t.c)), (upper(t.c))
 HAVING max(t.a) > 1 OR min(t.b) IS NULL;)sql"},
    {R"sql(select a from t order by b + 1, -a, c || 'x' desc, coalesce(d, 1), case when e then 1 end)sql",
     "",
     R"sql( SELECT t.a
   FROM t
  ORDER BY (t.b + 1), (- t.a), (t.c || 'x'::text) DESC, COALESCE(t.d, 1),
        CASE
            WHEN t.e THEN 1
            ELSE NULL::integer
        END;)sql",
     R"sql( SELECT t.a
   FROM t
  ORDER BY (t.b + 1), (- t.a), (t.c || 'x'::text) DESC, (COALESCE(t.d, 1)), (
        CASE
            WHEN t.e THEN 1
            ELSE NULL::integer
        END);)sql"},
    {R"sql(select max(a) as m, b from t group by 2 order by 1)sql", "",
     R"sql( SELECT max(t.a) AS m,
    t.b
   FROM t
  GROUP BY t.b
  ORDER BY (max(t.a));)sql",
     ""},
    {R"sql(select distinct b + 1 as k, c from t order by k desc nulls last, c)sql", "",
     R"sql( SELECT DISTINCT (t.b + 1) AS k,
    t.c
   FROM t
  ORDER BY (t.b + 1) DESC NULLS LAST, t.c;)sql",
     R"sql( SELECT DISTINCT t.b + 1 AS k,
    t.c
   FROM t
  ORDER BY (t.b + 1) DESC NULLS LAST, t.c;)sql"},
    {R"sql(select distinct coalesce(b, 0) as k from t order by 1)sql", "",
     R"sql( SELECT DISTINCT COALESCE(t.b, 0) AS k
   FROM t
  ORDER BY COALESCE(t.b, 0);)sql",
     R"sql( SELECT DISTINCT COALESCE(t.b, 0) AS k
   FROM t
  ORDER BY (COALESCE(t.b, 0));)sql"},
};

}  // namespace pgsilo::testing
