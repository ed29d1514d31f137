// Expressions in the list of columns and in WHERE. Texts are PostgreSQL 15's.
#pragma once

#include "tests/unit/planner/view_definitions/view_definition.h"

namespace pgsilo::testing {

inline constexpr ViewDefinition definitions_of_expressions[] = {
    {R"sql(select a from t)sql", "",
     R"sql( SELECT t.a
   FROM t;)sql",
     ""},
    {R"sql(select a, b as bee, c || 'x' as cx, d + 1 from t)sql", "",
     R"sql( SELECT t.a,
    t.b AS bee,
    (t.c || 'x'::text) AS cx,
    (t.d + 1) AS "?column?"
   FROM t;)sql",
     R"sql( SELECT t.a,
    t.b AS bee,
    t.c || 'x'::text AS cx,
    t.d + 1 AS "?column?"
   FROM t;)sql"},
    {R"sql(select * from t)sql", "",
     R"sql( SELECT t.a,
    t.b,
    t.c,
    t.d,
    t.e
   FROM t;)sql",
     ""},
    {R"sql(select 1)sql", "", R"sql( SELECT 1 AS "?column?";)sql", ""},
    {R"sql(select 1 as one, 'x'::text as "Two", null::int as three, -5 as four, 1.5 as five, true as six)sql",
     "",
     R"sql( SELECT 1 AS one,
    'x'::text AS "Two",
    NULL::integer AS three,
    '-5'::integer AS four,
    1.5 AS five,
    true AS six;)sql",
     ""},
    {R"sql(select t.a as b from t as t)sql", "",
     R"sql( SELECT t.a AS b
   FROM t t;)sql",
     ""},
    {R"sql(select "Name" as "select", id from x)sql", "",
     R"sql( SELECT x."Name" AS "select",
    x.id
   FROM x;)sql",
     ""},
    {R"sql(select a, case when b > 1 then 'x' when b is null then 'y' else c end as k, d from t)sql",
     "",
     R"sql( SELECT t.a,
        CASE
            WHEN (t.b > 1) THEN 'x'::text
            WHEN (t.b IS NULL) THEN 'y'::text
            ELSE t.c
        END AS k,
    t.d
   FROM t;)sql",
     R"sql( SELECT t.a,
        CASE
            WHEN t.b > 1 THEN 'x'::text
            WHEN t.b IS NULL THEN 'y'::text
            ELSE t.c
        END AS k,
    t.d
   FROM t;)sql"},
    {R"sql(select a from t where case when b > 1 then e else false end)sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE
        CASE
            WHEN (t.b > 1) THEN t.e
            ELSE false
        END;)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE
        CASE
            WHEN t.b > 1 THEN t.e
            ELSE false
        END;)sql"},
    {R"sql(select old.a from old)sql", "",
     R"sql( SELECT old_1.a
   FROM old old_1;)sql",
     ""},
    {R"sql(select relname, reltuples, relpages from pg_class)sql", "",
     R"sql( SELECT pg_class.relname,
    pg_class.reltuples,
    pg_class.relpages
   FROM pg_class;)sql",
     ""},
    {R"sql(select arr[1] as f, arr[1:2] as g, (array[1, 2, 3])[2] as h from w)sql", "",
     R"sql( SELECT w.arr[1] AS f,
    w.arr[1:2] AS g,
    (ARRAY[1, 2, 3])[2] AS h
   FROM w;)sql",
     ""},
    {R"sql(select extract(year from ts) as y, substring("Name" from 1 for 2) as s, position('a' in "Name") as p from x)sql",
     "",
     R"sql( SELECT EXTRACT(year FROM x.ts) AS y,
    SUBSTRING(x."Name" FROM 1 FOR 2) AS s,
    POSITION(('a'::text) IN (x."Name")) AS p
   FROM x;)sql",
     ""},
    {R"sql(select a + b * 2 - (d - 1) as e1, (a + b) * 2 as e2, not e as ne, a between 1 and 3 as bt, c like 'x%' as lk from t)sql",
     "",
     R"sql( SELECT ((t.a + (t.b * 2)) - (t.d - 1)) AS e1,
    ((t.a + t.b) * 2) AS e2,
    (NOT t.e) AS ne,
    ((t.a >= 1) AND (t.a <= 3)) AS bt,
    (t.c ~~ 'x%'::text) AS lk
   FROM t;)sql",
     R"sql( SELECT t.a + t.b * 2 - (t.d - 1) AS e1,
    (t.a + t.b) * 2 AS e2,
    NOT t.e AS ne,
    t.a >= 1 AND t.a <= 3 AS bt,
    t.c ~~ 'x%'::text AS lk
   FROM t;)sql"},
    {R"sql(select a from t where row(a, b) is not null and (a, b) = (1, 2))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((ROW(t.a, t.b) IS NOT NULL) AND ((t.a = 1) AND (t.b = 2)));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE ROW(t.a, t.b) IS NOT NULL AND t.a = 1 AND t.b = 2;)sql"},
    {R"sql(select max(a) over1 from t)sql", "",
     R"sql( SELECT max(t.a) AS over1
   FROM t;)sql",
     ""},
    {R"sql(select a from t where nullif(b, 1) is null and greatest(a, b) > least(b, d) and coalesce(c, 'x') = 'x')sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((NULLIF(t.b, 1) IS NULL) AND (GREATEST(t.a, t.b) > LEAST(t.b, t.d)) AND (COALESCE(t.c, 'x'::text) = 'x'::text));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE NULLIF(t.b, 1) IS NULL AND GREATEST(t.a, t.b) > LEAST(t.b, t.d) AND COALESCE(t.c, 'x'::text) = 'x'::text;)sql"},
    {R"sql(select a, b::text as bt, (a + 1)::text as at, c::varchar(3) as cv, '2020-01-01'::date as dd, interval '1 day' as iv from t)sql",
     "",
     R"sql( SELECT t.a,
    (t.b)::text AS bt,
    ((t.a + 1))::text AS at,
    (t.c)::character varying(3) AS cv,
    '2020-01-01'::date AS dd,
    '1 day'::interval AS iv
   FROM t;)sql",
     R"sql( SELECT t.a,
    t.b::text AS bt,
    (t.a + 1)::text AS at,
    t.c::character varying(3) AS cv,
    '2020-01-01'::date AS dd,
    '1 day'::interval AS iv
   FROM t;)sql"},
    {R"sql(select a, b from t)sql", "p,q",
     R"sql( SELECT t.a AS p,
    t.b AS q
   FROM t;)sql",
     ""},
    {R"sql(select 1)sql", "k", R"sql( SELECT 1 AS k;)sql", ""},
    {R"sql(select a from t where not (a > 1 and (b < 2 or not e)) and -a < 3 and a % 2 = 0)sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((NOT ((t.a > 1) AND ((t.b < 2) OR (NOT t.e)))) AND ((- t.a) < 3) AND ((t.a % 2) = 0));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE NOT (t.a > 1 AND (t.b < 2 OR NOT t.e)) AND (- t.a) < 3 AND (t.a % 2) = 0;)sql"},
    {R"sql(select a from t where (a = 1 or b = 2) and (c = 'x' or c = 'y') or d = 3)sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((((t.a = 1) OR (t.b = 2)) AND ((t.c = 'x'::text) OR (t.c = 'y'::text))) OR (t.d = 3));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.a = 1 OR t.b = 2) AND (t.c = 'x'::text OR t.c = 'y'::text) OR t.d = 3;)sql"},
    {R"sql(select a from t where a = any (array[1, 2]) and c not in ('x', 'y') and b not between 1 and 2 and c not like 'z%' and c ilike 'q')sql",
     "",
     R"sql( SELECT t.a
   FROM t
  WHERE ((t.a = ANY (ARRAY[1, 2])) AND (t.c <> ALL (ARRAY['x'::text, 'y'::text])) AND ((t.b < 1) OR (t.b > 2)) AND (t.c !~~ 'z%'::text) AND (t.c ~~* 'q'::text));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE (t.a = ANY (ARRAY[1, 2])) AND (t.c <> ALL (ARRAY['x'::text, 'y'::text])) AND (t.b < 1 OR t.b > 2) AND t.c !~~ 'z%'::text AND t.c ~~* 'q'::text;)sql"},
    {R"sql(select a from t tablesample_ where tablesample_.b > 0)sql", "",
     R"sql( SELECT tablesample_.a
   FROM t tablesample_
  WHERE (tablesample_.b > 0);)sql",
     R"sql( SELECT tablesample_.a
   FROM t tablesample_
  WHERE tablesample_.b > 0;)sql"},
    {R"sql(select "T".a as "Sum", "T".b as "b c", "T".c as "q""q" from t "T" where "T".c = 'it''s' || E'\\n')sql",
     "",
     R"sql( SELECT "T".a AS "Sum",
    "T".b AS "b c",
    "T".c AS "q""q"
   FROM t "T"
  WHERE ("T".c = ('it''s'::text || '\n'::text));)sql",
     R"sql( SELECT "T".a AS "Sum",
    "T".b AS "b c",
    "T".c AS "q""q"
   FROM t "T"
  WHERE "T".c = ('it''s'::text || '\n'::text);)sql"},
    {R"sql(select current_date as d, current_timestamp as ts, current_user as us, now() - interval '2 days' as ago)sql",
     "",
     R"sql( SELECT CURRENT_DATE AS d,
    CURRENT_TIMESTAMP AS ts,
    CURRENT_USER AS us,
    (now() - '2 days'::interval) AS ago;)sql",
     R"sql( SELECT CURRENT_DATE AS d,
    CURRENT_TIMESTAMP AS ts,
    CURRENT_USER AS us,
    now() - '2 days'::interval AS ago;)sql"},
    {R"sql(select extract(epoch from ts) as ep, date_trunc('day', ts) as dy, ts + '1 hour'::interval as nx, to_char(ts, 'YYYY') as y, ts at time zone 'UTC' as z from x)sql",
     "",
     R"sql( SELECT EXTRACT(epoch FROM x.ts) AS ep,
    date_trunc('day'::text, x.ts) AS dy,
    (x.ts + '01:00:00'::interval) AS nx,
    to_char(x.ts, 'YYYY'::text) AS y,
    (x.ts AT TIME ZONE 'UTC'::text) AS z
   FROM x;)sql",
     R"sql( SELECT EXTRACT(epoch FROM x.ts) AS ep,
    date_trunc('day'::text, x.ts) AS dy,
    x.ts + '01:00:00'::interval AS nx,
    to_char(x.ts, 'YYYY'::text) AS y,
    (x.ts AT TIME ZONE 'UTC'::text) AS z
   FROM x;)sql"},
    {R"sql(select concat(c, a) as cc, format('%s-%s', a, b) as f, lpad(c, 5, '0') as l, trim(both 'x' from c) as tr, round(1.5 * d, 2) as r from t)sql",
     "",
     R"sql( SELECT concat(t.c, t.a) AS cc,
    format('%s-%s'::text, t.a, t.b) AS f,
    lpad(t.c, 5, '0'::text) AS l,
    TRIM(BOTH 'x'::text FROM t.c) AS tr,
    round((1.5 * (t.d)::numeric), 2) AS r
   FROM t;)sql",
     R"sql( SELECT concat(t.c, t.a) AS cc,
    format('%s-%s'::text, t.a, t.b) AS f,
    lpad(t.c, 5, '0'::text) AS l,
    TRIM(BOTH 'x'::text FROM t.c) AS tr,
    round(1.5 * t.d::numeric, 2) AS r
   FROM t;)sql"},
    {R"sql(select a from t where (a, b) in ((1, 2), (3, 4)))sql", "",
     R"sql( SELECT t.a
   FROM t
  WHERE (((t.a = 1) AND (t.b = 2)) OR ((t.a = 3) AND (t.b = 4)));)sql",
     R"sql( SELECT t.a
   FROM t
  WHERE t.a = 1 AND t.b = 2 OR t.a = 3 AND t.b = 4;)sql"},
    {R"sql(select pid from pg_catalog.pg_locks where granted)sql", "",
     R"sql( SELECT pg_locks.pid
   FROM pg_locks
  WHERE pg_locks.granted;)sql",
     ""},
    {R"sql(select a from t offset 3)sql", "",
     R"sql( SELECT t.a
   FROM t
 OFFSET 3;)sql",
     ""},
};

}  // namespace pgsilo::testing
