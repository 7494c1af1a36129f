"""The replay bench: sets of clips through the real app, with figures, reports and gates.

clips, archive, collect  what a set is; one file to hand a fault to someone else
degrade                  one clip becomes a family
kept, measure, crew      a clip through the app; what it gave; processes that do many
results, figures, gate   lines of a run; figures over them; whether they got worse
plan, table, page        a whole run; its report in a terminal and as a page
"""
