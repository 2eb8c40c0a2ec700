-- The cycle that p_now lies in: its first day, and the first day of the next.
CREATE OR REPLACE FUNCTION app.budget_cycle(p_reset_day integer, p_now timestamptz, OUT first_day date, OUT next_day date)
LANGUAGE sql IMMUTABLE AS $$
  SELECT s.first_day, (s.first_day + interval '1 month')::date
  FROM (SELECT (date_trunc('month', (p_now AT TIME ZONE 'UTC') - (p_reset_day - 1) * interval '1 day') + (p_reset_day - 1) * interval '1 day')::date AS first_day) s
$$;
