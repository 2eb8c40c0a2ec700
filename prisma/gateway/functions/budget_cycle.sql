-- The cycle that p_at lies in.
CREATE OR REPLACE FUNCTION gateway.budget_cycle(p_period text, p_reset_day integer, p_seconds integer, p_anchor timestamptz, p_at timestamptz, OUT starts timestamptz, OUT ends timestamptz)
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE p_period
      WHEN 'month' THEN (date_trunc('month', (p_at AT TIME ZONE 'UTC') - (p_reset_day - 1) * interval '1 day') + (p_reset_day - 1) * interval '1 day') AT TIME ZONE 'UTC'
      WHEN 'day' THEN date_trunc('day', p_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
      WHEN 'seconds' THEN p_anchor + floor(extract(epoch FROM p_at - p_anchor) / p_seconds) * p_seconds * interval '1 second'
      ELSE '1970-01-01 00:00:00+00'::timestamptz END,
    CASE p_period
      WHEN 'month' THEN (date_trunc('month', (p_at AT TIME ZONE 'UTC') - (p_reset_day - 1) * interval '1 day') + (p_reset_day - 1) * interval '1 day' + interval '1 month') AT TIME ZONE 'UTC'
      WHEN 'day' THEN (date_trunc('day', p_at AT TIME ZONE 'UTC') + interval '1 day') AT TIME ZONE 'UTC'
      WHEN 'seconds' THEN p_anchor + (floor(extract(epoch FROM p_at - p_anchor) / p_seconds) + 1) * p_seconds * interval '1 second'
      ELSE '9999-01-01 00:00:00+00'::timestamptz END
$$;
