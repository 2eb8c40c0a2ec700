-- Limits and spending in the cycle of p_now: '' is the organization, then its members and everyone else who spent or
-- has an override. limit_usd is null where there is none.
-- Under the caller's own row-level security.
CREATE OR REPLACE FUNCTION app.budget_spending(p_org text, p_now timestamptz, p_reset_day integer, p_org_limit numeric, p_member_limit numeric)
RETURNS TABLE (user_id text, overridden boolean, limit_usd numeric, spent_usd numeric)
LANGUAGE sql STABLE AS $$
  WITH spend AS (
    SELECT d.user_id, sum(d.cost_usd) AS spent FROM app.usage_day d, app.budget_cycle(p_reset_day, p_now) c
    WHERE d.org_id = p_org AND d.day >= c.first_day AND d.day < c.next_day GROUP BY d.user_id
  ), person AS (
    SELECT s.user_id FROM spend s UNION SELECT m.user_id FROM app.membership m WHERE m.org_id = p_org UNION SELECT o.user_id FROM app.budget_override o WHERE o.org_id = p_org
  )
  SELECT '', false, p_org_limit, coalesce((SELECT sum(s.spent) FROM spend s), 0)
  UNION ALL
  SELECT p.user_id, o.user_id IS NOT NULL, CASE WHEN o.user_id IS NULL THEN p_member_limit ELSE o.limit_usd END, coalesce(s.spent, 0)
  FROM person p LEFT JOIN spend s ON s.user_id = p.user_id LEFT JOIN app.budget_override o ON o.org_id = p_org AND o.user_id = p.user_id
$$;
