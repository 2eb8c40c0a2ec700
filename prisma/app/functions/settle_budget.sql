-- Brings the stops and notices of an organization in line with its limits and spending at p_now. Idempotent.
-- Whoever has spent the limit or more is stopped. Serialized per organization by the lock on its budget.
-- A limit of 0 is reached at once: it sends one notice, not one for each share.
CREATE OR REPLACE FUNCTION app.settle_budget(p_org text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  b app.budget;
  v_cycle record;
  v_before text;
  v_after text;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SELECT * INTO b FROM app.budget WHERE org_id = p_org FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT string_agg(concat_ws(' ', s.user_id, s.limit_usd, s.until), ',' ORDER BY s.user_id) INTO v_before FROM app.budget_stop s WHERE s.org_id = p_org;
  SELECT * INTO v_cycle FROM app.budget_cycle(b.reset_day, p_now);
  WITH limited AS MATERIALIZED (
    SELECT s.user_id, s.limit_usd, s.spent_usd FROM app.budget_spending(p_org, p_now, b.reset_day, b.org_limit_usd, b.member_limit_usd) s
    WHERE b.enabled AND s.limit_usd IS NOT NULL
  ), freed AS (
    DELETE FROM app.budget_stop t WHERE t.org_id = p_org AND NOT EXISTS (SELECT 1 FROM limited l WHERE l.user_id = t.user_id AND l.spent_usd >= l.limit_usd)
  ), stopped AS (
    INSERT INTO app.budget_stop AS t (org_id, user_id, limit_usd, until)
      SELECT p_org, l.user_id, l.limit_usd, v_cycle.next_day::timestamp AT TIME ZONE 'UTC' FROM limited l WHERE l.spent_usd >= l.limit_usd
    ON CONFLICT (org_id, user_id) DO UPDATE SET limit_usd = excluded.limit_usd, until = excluded.until
      WHERE (t.limit_usd, t.until) IS DISTINCT FROM (excluded.limit_usd, excluded.until)
  )
  INSERT INTO app.budget_notice (org_id, user_id, cycle_start, cycle_end, threshold, spent_usd, limit_usd)
    SELECT p_org, l.user_id, v_cycle.first_day, v_cycle.next_day, t, l.spent_usd, l.limit_usd
    FROM limited l, unnest(ARRAY[50, 80, 90, 100]) t WHERE l.spent_usd * 100 >= l.limit_usd * t AND (l.limit_usd > 0 OR t = 100) ORDER BY l.user_id, t
  ON CONFLICT (org_id, user_id, cycle_start, threshold) DO NOTHING;
  SELECT string_agg(concat_ws(' ', s.user_id, s.limit_usd, s.until), ',' ORDER BY s.user_id) INTO v_after FROM app.budget_stop s WHERE s.org_id = p_org;
  IF v_before IS DISTINCT FROM v_after THEN UPDATE app.budget SET stops_version = stops_version + 1 WHERE org_id = p_org; END IF;
END $$;
