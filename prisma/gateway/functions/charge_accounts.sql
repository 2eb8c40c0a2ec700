-- Trigger: counts new ledger rows in the accounts that they belong to, in the same commit, and subtracts them from
-- what their replica holds.
-- A trigger, so that every version of the gateway does it.
CREATE OR REPLACE FUNCTION gateway.charge_accounts() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE v_ids bigint[];
BEGIN
  SELECT array_agg(DISTINCT a.id) INTO v_ids
  FROM stored n
  CROSS JOIN LATERAL (VALUES ('org', ''), ('member', n.user_id), ('key', n.key_id), ('conversation', n.conversation_id::text)) w(kind, subject)
  JOIN gateway.budget_account a ON a.org_id = n.org_id AND a.kind = w.kind AND a.subject = w.subject
  WHERE n.cost_usd > 0;
  IF v_ids IS NULL THEN RETURN NULL; END IF;
  PERFORM 1 FROM gateway.budget_account a WHERE a.id = ANY (v_ids) ORDER BY a.id FOR UPDATE;
  UPDATE gateway.budget_account a SET spent = a.spent + s.cost
  FROM (
    SELECT x.id, (sum(n.cost_usd) * 10000000000)::bigint AS cost
    FROM stored n
    CROSS JOIN LATERAL (VALUES ('org', ''), ('member', n.user_id), ('key', n.key_id), ('conversation', n.conversation_id::text)) w(kind, subject)
    JOIN gateway.budget_account x ON x.id = ANY (v_ids) AND x.org_id = n.org_id AND x.kind = w.kind AND x.subject = w.subject
      AND n.started_at >= x.cycle_start AND n.started_at < x.cycle_end
    GROUP BY x.id
  ) s WHERE a.id = s.id;
  UPDATE gateway.budget_lease l SET held = l.held - s.cost
  FROM (
    SELECT u.account, n.holder, (sum(n.cost_usd) * 10000000000)::bigint AS cost FROM stored n CROSS JOIN LATERAL unnest(n.accounts) u(account) GROUP BY u.account, n.holder
  ) s WHERE l.account = s.account AND l.replica = s.holder;
  RETURN NULL;
END $$;
