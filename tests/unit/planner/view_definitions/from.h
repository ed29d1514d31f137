// What FROM names, joins with conditions, functions. Texts are PostgreSQL 15's.
#pragma once

#include "tests/unit/planner/view_definitions/view_definition.h"

namespace pgsilo::testing {

inline constexpr ViewDefinition definitions_of_from[] = {
    {R"sql(select q.a from t q)sql", "",
     R"sql( SELECT q.a
   FROM t q;)sql",
     ""},
    {R"sql(select q.x, q.b from t q(x))sql", "",
     R"sql( SELECT q.x,
    q.b
   FROM t q(x, b, c, d, e);)sql",
     ""},
    {R"sql(select q.x, q.y from t q(x, y) where q.y is not null)sql", "",
     R"sql( SELECT q.x,
    q.y
   FROM t q(x, y, c, d, e)
  WHERE (q.y IS NOT NULL);)sql",
     R"sql( SELECT q.x,
    q.y
   FROM t q(x, y, c, d, e)
  WHERE q.y IS NOT NULL;)sql"},
    {R"sql(select a.z from s.t a)sql", "",
     R"sql( SELECT a.z
   FROM s.t a;)sql",
     ""},
    {R"sql(select z from s.t)sql", "",
     R"sql( SELECT t.z
   FROM s.t;)sql",
     ""},
    {R"sql(select far.a from s.far)sql", "",
     R"sql( SELECT far.a
   FROM s.far;)sql",
     ""},
    {R"sql(select t.a, t1.a as a1 from t, t as t1)sql", "",
     R"sql( SELECT t.a,
    t1.a AS a1
   FROM t,
    t t1;)sql",
     ""},
    {R"sql(select t.a as x, u.a as y from t, u where t.a = u.t_a and u.v like 'a%')sql", "",
     R"sql( SELECT t.a AS x,
    u.a AS y
   FROM t,
    u
  WHERE ((t.a = u.t_a) AND (u.v ~~ 'a%'::text));)sql",
     R"sql( SELECT t.a AS x,
    u.a AS y
   FROM t,
    u
  WHERE t.a = u.t_a AND u.v ~~ 'a%'::text;)sql"},
    {R"sql(select t.a from t join u on t.a = u.t_a)sql", "",
     R"sql( SELECT t.a
   FROM (t
     JOIN u ON ((t.a = u.t_a)));)sql",
     R"sql( SELECT t.a
   FROM t
     JOIN u ON t.a = u.t_a;)sql"},
    {R"sql(select t.a from t left join u on t.a = u.t_a and u.v = 'x' where u.v is null)sql", "",
     R"sql( SELECT t.a
   FROM (t
     LEFT JOIN u ON (((t.a = u.t_a) AND (u.v = 'x'::text))))
  WHERE (u.v IS NULL);)sql",
     R"sql( SELECT t.a
   FROM t
     LEFT JOIN u ON t.a = u.t_a AND u.v = 'x'::text
  WHERE u.v IS NULL;)sql"},
    {R"sql(select t.a from t cross join u)sql", "",
     R"sql( SELECT t.a
   FROM (t
     CROSS JOIN u);)sql",
     R"sql( SELECT t.a
   FROM t
     CROSS JOIN u;)sql"},
    {R"sql(select t.a from t inner join u on true)sql", "",
     R"sql( SELECT t.a
   FROM (t
     JOIN u ON (true));)sql",
     R"sql( SELECT t.a
   FROM t
     JOIN u ON true;)sql"},
    {R"sql(select t.a from t left join u on true)sql", "",
     R"sql( SELECT t.a
   FROM (t
     LEFT JOIN u ON (true));)sql",
     R"sql( SELECT t.a
   FROM t
     LEFT JOIN u ON true;)sql"},
    {R"sql(select t.a from t join (u join w on w.u_a = u.a) on t.a = u.t_a)sql", "",
     R"sql( SELECT t.a
   FROM (t
     JOIN (u
     JOIN w ON ((w.u_a = u.a))) ON ((t.a = u.t_a)));)sql",
     R"sql( SELECT t.a
   FROM t
     JOIN (u
     JOIN w ON w.u_a = u.a) ON t.a = u.t_a;)sql"},
    {R"sql(select t.a from t right join u on t.a = u.t_a full join w on w.u_a = u.a)sql", "",
     R"sql( SELECT t.a
   FROM ((t
     RIGHT JOIN u ON ((t.a = u.t_a)))
     FULL JOIN w ON ((w.u_a = u.a)));)sql",
     R"sql( SELECT t.a
   FROM t
     RIGHT JOIN u ON t.a = u.t_a
     FULL JOIN w ON w.u_a = u.a;)sql"},
    {R"sql(select g from generate_series(1, 10) as g)sql", "",
     R"sql( SELECT g.g
   FROM generate_series(1, 10) g(g);)sql",
     ""},
    {R"sql(select * from generate_series(1, 10))sql", "",
     R"sql( SELECT generate_series.generate_series
   FROM generate_series(1, 10) generate_series(generate_series);)sql",
     ""},
    {R"sql(select n, o from generate_series(1, 10, 2) with ordinality as s(n, o))sql", "",
     R"sql( SELECT s.n,
    s.o
   FROM generate_series(1, 10, 2) WITH ORDINALITY s(n, o);)sql",
     ""},
    {R"sql(select * from unnest(array[1, 2], array['a', 'b']) as z(p, q))sql", "",
     R"sql( SELECT z.p,
    z.q
   FROM UNNEST(ARRAY[1, 2], ARRAY['a'::text, 'b'::text]) z(p, q);)sql",
     ""},
    {R"sql(select * from rows from (generate_series(1, 3), unnest(array['a', 'b'])) with ordinality as z(p, q, r))sql",
     "",
     R"sql( SELECT z.p,
    z.q,
    z.r
   FROM ROWS FROM(generate_series(1, 3), unnest(ARRAY['a'::text, 'b'::text])) WITH ORDINALITY z(p, q, r);)sql",
     ""},
    {R"sql(select t.a, g.i from t, generate_series(1, t.b) as g(i))sql", "",
     R"sql( SELECT t.a,
    g.i
   FROM t,
    LATERAL generate_series(1, t.b) g(i);)sql",
     ""},
    {R"sql(select now() as n from now())sql", "",
     R"sql( SELECT now() AS n
   FROM now() now(now);)sql",
     ""},
    {R"sql(select * from current_date)sql", "",
     R"sql( SELECT "current_date"."current_date"
   FROM CURRENT_DATE "current_date"("current_date");)sql",
     ""},
    {R"sql(select generate_series(1, b) as g, unnest(arr) as el from t, w)sql", "",
     R"sql( SELECT generate_series(1, t.b) AS g,
    unnest(w.arr) AS el
   FROM t,
    w;)sql",
     ""},
    {R"sql(select a.a from t a join t b on a.a = b.b join t c on c.b = b.a where a.c = 'x' and (b.c = 'y' or c.c = 'z'))sql",
     "",
     R"sql( SELECT a.a
   FROM ((t a
     JOIN t b ON ((a.a = b.b)))
     JOIN t c ON ((c.b = b.a)))
  WHERE ((a.c = 'x'::text) AND ((b.c = 'y'::text) OR (c.c = 'z'::text)));)sql",
     R"sql( SELECT a.a
   FROM t a
     JOIN t b ON a.a = b.b
     JOIN t c ON c.b = b.a
  WHERE a.c = 'x'::text AND (b.c = 'y'::text OR c.c = 'z'::text);)sql"},
    {R"sql(select "Name"::text as nt, id::bigint as ib, ts::date as d, "Name" = 'x' as q, n::int as ni from x, w)sql",
     "",
     R"sql( SELECT (x."Name")::text AS nt,
    (x.id)::bigint AS ib,
    (x.ts)::date AS d,
    ((x."Name")::text = 'x'::text) AS q,
    (w.n)::integer AS ni
   FROM x,
    w;)sql",
     R"sql( SELECT x."Name"::text AS nt,
    x.id::bigint AS ib,
    x.ts::date AS d,
    x."Name"::text = 'x'::text AS q,
    w.n::integer AS ni
   FROM x,
    w;)sql"},
    {R"sql(select t.a from t, u, w where t.a = u.a and w.u_a = u.a)sql", "",
     R"sql( SELECT t.a
   FROM t,
    u,
    w
  WHERE ((t.a = u.a) AND (w.u_a = u.a));)sql",
     R"sql( SELECT t.a
   FROM t,
    u,
    w
  WHERE t.a = u.a AND w.u_a = u.a;)sql"},
    {R"sql(select t.a, u.v from t, u left join w on w.u_a = u.a)sql", "",
     R"sql( SELECT t.a,
    u.v
   FROM t,
    (u
     LEFT JOIN w ON ((w.u_a = u.a)));)sql",
     R"sql( SELECT t.a,
    u.v
   FROM t,
    u
     LEFT JOIN w ON w.u_a = u.a;)sql"},
    {R"sql(select t.a from (t join u on t.a = u.a) join w on true)sql", "",
     R"sql( SELECT t.a
   FROM ((t
     JOIN u ON ((t.a = u.a)))
     JOIN w ON (true));)sql",
     R"sql( SELECT t.a
   FROM t
     JOIN u ON t.a = u.a
     JOIN w ON true;)sql"},
    {R"sql(select z.p from (t cross join u) as z(p))sql", "",
     R"sql( SELECT z.p
   FROM (t
     CROSS JOIN u) z(p, b, c, d, e, a, t_a, v);)sql",
     ""},
    {R"sql(select t.*, u.v from t join u on u.a = t.a)sql", "",
     R"sql( SELECT t.a,
    t.b,
    t.c,
    t.d,
    t.e,
    u.v
   FROM (t
     JOIN u ON ((u.a = t.a)));)sql",
     R"sql( SELECT t.a,
    t.b,
    t.c,
    t.d,
    t.e,
    u.v
   FROM t
     JOIN u ON u.a = t.a;)sql"},
    {R"sql(select t.a, s.i, s.n from t cross join lateral generate_series(1, t.d) with ordinality as s(i, n) where s.n < 3)sql",
     "",
     R"sql( SELECT t.a,
    s.i,
    s.n
   FROM (t
     CROSS JOIN LATERAL generate_series(1, t.d) WITH ORDINALITY s(i, n))
  WHERE (s.n < 3);)sql",
     R"sql( SELECT t.a,
    s.i,
    s.n
   FROM t
     CROSS JOIN LATERAL generate_series(1, t.d) WITH ORDINALITY s(i, n)
  WHERE s.n < 3;)sql"},
    {R"sql(select f.* from unnest(array[1, 2]) f)sql", "",
     R"sql( SELECT f.f
   FROM unnest(ARRAY[1, 2]) f(f);)sql",
     ""},
    {R"sql(select upper(c) || '-' || coalesce(v, '') as s from t, u where lower(t.c) like '%' || u.v || '%' escape '!')sql",
     "",
     R"sql( SELECT ((upper(t.c) || '-'::text) || COALESCE(u.v, ''::text)) AS s
   FROM t,
    u
  WHERE (lower(t.c) ~~ like_escape((('%'::text || u.v) || '%'::text), '!'::text));)sql",
     R"sql( SELECT (upper(t.c) || '-'::text) || COALESCE(u.v, ''::text) AS s
   FROM t,
    u
  WHERE lower(t.c) ~~ like_escape(('%'::text || u.v) || '%'::text, '!'::text);)sql"},
    {R"sql(select u.a from s.t u, u t, t u_1)sql", "",
     R"sql( SELECT u.a
   FROM s.t u,
    u t,
    t u_1;)sql",
     ""},
    {R"sql(select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and n.nspname !~ '^pg_')sql",
     "",
     R"sql( SELECT n.nspname,
    c.relname
   FROM (pg_class c
     JOIN pg_namespace n ON ((n.oid = c.relnamespace)))
  WHERE ((c.relkind = 'r'::"char") AND (n.nspname !~ '^pg_'::text));)sql",
     R"sql( SELECT n.nspname,
    c.relname
   FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'r'::"char" AND n.nspname !~ '^pg_'::text;)sql"},
    {R"sql(select new.a, old.b from t new, t old)sql", "",
     R"sql( SELECT new_1.a,
    old_1.b
   FROM t new_1,
    t old_1;)sql",
     ""},
    {R"sql(select -a as n, - (-3) as m, +b as p, a::float8 / 2.5 as q, (a > 1)::int as r, b::bool as s from t)sql",
     "",
     R"sql( SELECT (- t.a) AS n,
    3 AS m,
    (+ t.b) AS p,
    ((t.a)::double precision / (2.5)::double precision) AS q,
    ((t.a > 1))::integer AS r,
    (t.b)::boolean AS s
   FROM t;)sql",
     R"sql( SELECT - t.a AS n,
    3 AS m,
    + t.b AS p,
    t.a::double precision / 2.5::double precision AS q,
    (t.a > 1)::integer AS r,
    t.b::boolean AS s
   FROM t;)sql"},
    {R"sql(select t.a as "order", t.b as user_, "left".v as "Left" from t, u as "left" where t.a = "left".a)sql",
     "",
     R"sql( SELECT t.a AS "order",
    t.b AS user_,
    "left".v AS "Left"
   FROM t,
    u "left"
  WHERE (t.a = "left".a);)sql",
     R"sql( SELECT t.a AS "order",
    t.b AS user_,
    "left".v AS "Left"
   FROM t,
    u "left"
  WHERE t.a = "left".a;)sql"},
};

}  // namespace pgsilo::testing
