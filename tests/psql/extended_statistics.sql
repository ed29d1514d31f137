create table together (a int, b int, c text);
create statistics together_all on a, b from together;
create statistics together_some (ndistinct, mcv) on c, a from together;
create statistics if not exists together_all on a, b from together;
create statistics together_all on a, b from together;
create statistics other (most) on a, b from together;
create statistics other on a from together;
alter statistics together_some set statistics 20000;
\d together
\dX
\dX+
drop statistics if exists other, together_all;
alter table together drop column c;
\d together
drop table together;
\dX
