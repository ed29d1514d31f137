"""Tables with skewed values, the same on both servers, and queries whose numbers of rows are estimated."""

# A number between 0 and 1 from the row's number, as good as random.
SHARE = "((g::bigint * {0} + {1}) % 1000003) / 1000003.0::float8"

TABLES = [
    "create table customers (id int primary key, region text not null, name varchar(30), credit int, rank smallint)",
    "insert into customers select g, 'region ' || floor(20 * power(" + SHARE.format(48271, 7) + ", 2))::int,"
    " chr(97 + (g * 7) % 26) || chr(97 + (g * 11) % 26) || 'son ' || g, case when g % 3 <> 0 then (g * 37) % 900 end, g % 5"
    " from generate_series(1, 5000) g",
    "create table orders (id int primary key, customer int not null, status text, amount numeric(12,2), placed timestamp,"
    " day date, note text, flag bool, ratio float8, code varchar(20), city text, big bigint, kind \"char\", tag char(6))",
    "insert into orders select g, 1 + floor(5000 * power(" + SHARE.format(16807, 3) + ", 3))::int,"
    " case when g % 100 < 88 then 'done' when g % 100 < 95 then 'open' when g % 100 < 98 then 'sent' when g % 100 < 99 then 'lost'"
    " when g % 1000 < 990 then 'back' else 'void' end,"
    " (10000 * power(" + SHARE.format(69621, 11) + ", 4))::numeric(12,2),"
    " timestamp '2020-01-01' + floor(1000 * sqrt(" + SHARE.format(39373, 5) + "))::int * interval '1 day' + (g % 86400) * interval '1 second',"
    " date '2020-01-01' + (g / 120), case when g % 10 < 3 then 'note ' || (g % 977) end, g % 20 = 0,"
    " exp(10 * " + SHARE.format(62089911, 13) + "), 'C-' || lpad(((g * 7919) % 120000)::text, 6, '0'),"
    " 'city ' || floor(300 * power(" + SHARE.format(742938285, 17) + ", 2))::int, g::bigint * 1000003 % 7777777,"
    " chr(97 + g % 7)::\"char\", 'tag' || g % 40"
    " from generate_series(1, 120000) g",
    "create index orders_customer on orders (customer)",
    "create index orders_city on orders (city, status)",
    "create table events (id int primary key, order_id int, sort int, cost int)",
    "insert into events select g, 1 + floor(120000 * power(" + SHARE.format(950706376, 19) + ", 2))::int,"
    " floor(50 * power(" + SHARE.format(1226874159, 23) + ", 3))::int, case when g % 50 <> 0 then g % 1000 end"
    " from generate_series(1, 60000) g",
    # What a place's town, state and code are says each something of the others; extended statistics tell.
    "create table places (id int primary key, town int, state int, code text, size int, extra int)",
    "insert into places select g, t, t / 10, 'code ' || t / 2, case when g % 11 <> 0 then t % 4 end, g % 50"
    " from (select g, floor(200 * power(" + SHARE.format(48271, 29) + ", 2))::int as t from generate_series(1, 50000) g) s",
    "create statistics places_town (dependencies, ndistinct) on town, state, code from places",
    "create statistics places_size (mcv) on state, size, extra from places",
    "create table pairs (a int, b int, c int)",
    "insert into pairs select g % 5000, (g % 5000) / 50, g % 7 from generate_series(1, 40000) g",
    "create statistics pairs_all on a, b, c from pairs",
]


def comparisons(column, values):
    for value in values:
        for operator in ("=", "<", ">=", "<>"):
            yield f"{column} {operator} {value}"


def ranges(column, values):
    for low in range(len(values) - 1):
        for high in range(low + 1, len(values)):
            yield f"{column} > {values[low]} and {column} < {values[high]}"
            yield f"{column} between {values[low]} and {values[high]}"


def order_conditions():
    yield from comparisons("customer", (1, 2, 17, 300, 2500, 4900, 7000))
    yield from ranges("customer", (1, 5, 100, 1000, 4000))
    yield from comparisons("status", ("'done'", "'open'", "'lost'", "'void'", "'none'"))
    yield from comparisons("amount", ("0", "1.5", "100", "3000", "9990", "20000"))
    yield from ranges("amount", ("1", "50", "2000", "9000"))
    yield from comparisons("placed", ("'2020-02-01'", "'2021-06-01'", "'2022-09-01'"))
    yield from ranges("placed", ("'2020-03-01'", "'2021-01-01'", "'2022-03-01'", "'2022-09-01'"))
    yield from comparisons("day", ("'2020-01-02'", "'2021-06-01'", "'2022-09-20'"))
    yield from ranges("day", ("'2020-01-05'", "'2020-01-15'", "'2021-01-15'", "'2022-08-01'"))
    yield from comparisons("note", ("'note 5'", "'note 99'", "'note 0'", "'zzz'"))
    yield from comparisons("ratio", ("1.5", "100", "15000"))
    yield from ranges("ratio", ("2", "10", "400", "12000"))
    yield from comparisons("code", ("'C-000100'", "'C-060000'", "'C-119000'", "'X'"))
    yield from ranges("code", ("'C-000500'", "'C-010000'", "'C-100000'"))
    yield from comparisons("city", ("'city 0'", "'city 1'", "'city 7'", "'city 150'", "'city 299'", "'nowhere'"))
    yield from ranges("city", ("'city 1'", "'city 2'", "'city 250'", "'city 3'"))
    yield from comparisons("big", ("100", "3000000", "7700000"))
    yield from comparisons("kind", ("'a'", "'d'"))
    yield from comparisons("tag", ("'tag1'", "'tag39'"))
    yield from ("note is null", "note is not null", "flag", "not flag", "flag is true", "flag is not true", "flag is null", "flag = true",
                "flag is false", "status is distinct from 'done'", "status is not distinct from 'open'")
    yield from ("status in ('open', 'sent')", "status in ('done', 'void', 'none')", "status not in ('done')", "status not in ('open', 'lost')",
                "customer in (1, 2, 3, 4, 5)", "customer in (100, 200, 300, 4000)", "customer = any (array[1, 20, 4000])",
                "customer <> all (array[1, 2])", "city in ('city 0', 'city 1', 'city 2', 'city 290')", "day in ('2020-01-02', '2021-01-01')")
    yield from ("status like 'd%'", "status like 'o%n'", "status like '%o%'", "status not like 'd%'", "code like 'C-0000%'", "code like 'C-01%'",
                "code like '%99'", "code like 'C-0_0%'", "code like 'Z%'", "city like 'city 1%'", "city like 'city 29%'", "city like '%9'",
                "city like 'city 0'", "note like 'note 9%'", "note like '%7%'", "city ilike 'CITY 2%'", "status ~ '^d'", "status ~ 'on'",
                "city ~ '^city 1'", "city ~ '5$'", "code ~ '^C-00'", "status !~ 'done'", "city ~* 'CITY 3'")
    yield from ("status = 'open' and flag", "status = 'done' and amount > 100", "status = 'lost' or amount > 9000", "customer < 10 and status = 'open'",
                "not (status = 'done')", "not (amount > 100)", "(customer < 5 or customer > 4990) and status = 'done'", "amount > 10 and amount > 100",
                "customer > 4000 and amount < 100 and placed > '2022-01-01'", "city = 'city 0' and status = 'done'", "city = 'city 0' and status = 'open'",
                "city = 'city 200' and status = 'void'", "amount > 100 and amount < 50", "customer = 1 and customer = 2", "1 < customer and 10 > customer",
                "5 = customer", "amount + 1 > 5", "customer % 2 = 0", "placed < timestamp '2021-01-01' + interval '3 days'", "placed < date '2021-06-01'",
                "length(city) = 6", "customer = amount", "customer < big")


def customer_conditions():
    yield from comparisons("region", ("'region 0'", "'region 1'", "'region 12'", "'region 19'"))
    yield from comparisons("credit", ("0", "450", "899"))
    yield from ranges("credit", ("10", "100", "800"))
    yield from comparisons("rank", ("0", "4"))
    yield from ("credit is null", "credit is not null", "name like 'a%'", "name like 'ab%'", "name like '%son 1%'", "name > 'm'", "id between 10 and 90",
                "id = 77", "id in (1, 2, 3)", "id > 4990", "rank in (1, 2)", "region < 'region 2'", "id < 100 and region = 'region 0'")


def event_conditions():
    yield from comparisons("order_id", ("1", "2000", "119000"))
    yield from ranges("order_id", ("10", "1000", "60000", "110000"))
    yield from comparisons("sort", ("0", "1", "10", "49"))
    yield from ("cost is null", "cost < 10", "cost > 990", "cost between 100 and 110")


def place_conditions():
    for town in (0, 3, 50, 199):
        yield f"town = {town} and state = {town // 10}"
        yield f"town = {town} and state = {town // 10} and code = 'code {town // 2}'"
        yield f"code = 'code {town // 2}' and state = {town // 10}"
        yield f"town in ({town}, 120) and state in ({town // 10}, 12)"
        yield f"town = {town} and state = 19"
    for state in (0, 1, 7, 19):
        for size in (0, 2):
            yield f"state = {state} and size = {size}"
            yield f"state = {state} or size = {size}"
            yield f"state < {state} and size = {size} and extra < 10"
            yield f"not (state = {state} and size <> {size})"
        yield f"state = {state} and size is null"
        yield f"state in ({state}, 3) and size in (1, 3)"
        yield f"state = {state} and size = 1 and extra = {state}"
        yield f"(state = {state} and size = 1) or (state = 2 and size = 0)"


def pair_conditions():
    for a in (0, 77, 2500, 4999):
        yield f"a = {a} and b = {a // 50}"
        yield f"a = {a} and b = 3"
        yield f"b = {a // 50} and c = 4"
        yield f"a = {a} and b = {a // 50} and c = {a % 7}"
        yield f"a < {a} and b = {a // 50}"


JOINS = [
    "select * from orders o join customers c on c.id = o.customer",
    "select * from orders o join customers c on c.id = o.customer where c.region = 'region 0'",
    "select * from orders o join customers c on c.id = o.customer where c.region = 'region 19'",
    "select * from orders o join customers c on c.id = o.customer where o.status = 'lost'",
    "select * from orders o join customers c on c.id = o.customer where o.status = 'lost' and c.rank = 1",
    "select * from orders o join customers c on c.id = o.customer where c.id < 100",
    "select * from orders o join events e on e.order_id = o.id",
    "select * from orders o join events e on e.order_id = o.id where e.sort = 0",
    "select * from orders o join events e on e.order_id = o.id where o.amount > 9000",
    "select * from events a join events b on a.order_id = b.order_id",
    "select * from events a join events b on a.sort = b.sort",
    "select * from events a join events b on a.cost = b.cost",
    "select * from orders a join orders b on a.city = b.city where a.status = 'void'",
    "select * from orders a join orders b on a.status = b.status where a.id < 100",
    "select * from customers a join customers b on a.region = b.region",
    "select * from customers a join customers b on a.credit = b.credit",
    "select * from customers a join customers b on a.rank = b.rank where a.region = 'region 3'",
    "select * from orders o join customers c on c.id = o.customer join events e on e.order_id = o.id",
    "select * from orders o join customers c on c.id = o.customer join events e on e.order_id = o.id where c.region = 'region 7'",
    "select * from customers c left join orders o on o.customer = c.id",
    "select * from customers c left join orders o on o.customer = c.id and o.status = 'void'",
    "select * from orders o left join events e on e.order_id = o.id where o.flag",
    "select * from customers c where exists (select from orders o where o.customer = c.id)",
    "select * from customers c where exists (select from orders o where o.customer = c.id and o.status = 'void')",
    "select * from customers c where not exists (select from orders o where o.customer = c.id and o.status = 'open')",
    "select * from customers c where c.id in (select customer from orders where amount > 9900)",
    "select * from orders o where exists (select from events e where e.order_id = o.id)",
    "select * from orders o where not exists (select from events e where e.order_id = o.id)",
    "select * from orders o where not exists (select from events e where e.order_id = o.id and e.sort = 0)",
    "select * from events e where exists (select from orders o where o.id = e.order_id and o.status = 'done')",
    "select * from events e where e.order_id in (select id from orders where flag)",
    "select * from customers c where exists (select from events e where e.cost = c.credit)",
]

GROUPS = [
    "select status, count(*) from orders group by status",
    "select customer, count(*) from orders group by customer",
    "select city, count(*) from orders group by city",
    "select city, status, count(*) from orders group by city, status",
    "select day, count(*) from orders group by day",
    "select note, count(*) from orders group by note",
    "select customer, status, count(*) from orders group by customer, status",
    "select customer, count(*) from orders where status = 'lost' group by customer",
    "select customer, count(*) from orders where amount > 9000 group by customer",
    "select city, count(*) from orders where customer < 3 group by city",
    "select region, count(*) from customers group by region",
    "select region, rank, count(*) from customers group by region, rank",
    "select credit, count(*) from customers group by credit",
    "select c.region, count(*) from orders o join customers c on c.id = o.customer group by c.region",
    "select o.status, c.rank, count(*) from orders o join customers c on c.id = o.customer group by o.status, c.rank",
    "select sort, count(*) from events group by sort",
    "select order_id, count(*) from events group by order_id",
    "select distinct city from orders",
    "select distinct status, flag from orders",
    "select distinct customer from orders where id < 500",
    "select distinct cost from events",
    "select distinct kind, tag from orders",
    "select town, state, count(*) from places group by town, state",
    "select town, state, code, count(*) from places group by town, state, code",
    "select town, code, extra, count(*) from places group by town, code, extra",
    "select distinct state, code from places",
    "select town, state, count(*) from places where town < 50 group by town, state",
    "select a, b, count(*) from pairs group by a, b",
    "select a, b, c, count(*) from pairs group by a, b, c",
    "select distinct b, c from pairs",
]


def queries():
    for condition in order_conditions():
        yield f"select * from orders where {condition}"
    for condition in customer_conditions():
        yield f"select * from customers where {condition}"
    for condition in event_conditions():
        yield f"select * from events where {condition}"
    for condition in place_conditions():
        yield f"select * from places where {condition}"
    for condition in pair_conditions():
        yield f"select * from pairs where {condition}"
    yield from JOINS
    yield from GROUPS
