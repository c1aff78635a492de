drop table plane.run;
