-- The budgets that limit a call at p_at, each with its account.
CREATE OR REPLACE FUNCTION gateway.open_budgets(p_org text, p_user text, p_key text, p_conversation text, p_at timestamptz)
RETURNS TABLE (account bigint, kind text, subject text, cycle_end timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
  b record;
  c record;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  FOR b IN
    SELECT DISTINCT ON (g.kind) g.*, CASE g.kind WHEN 'member' THEN p_user WHEN 'key' THEN p_key WHEN 'conversation' THEN p_conversation ELSE '' END AS whose
    FROM gateway.budget g
    WHERE g.org_id = p_org
      AND (g.kind = 'org' OR (g.kind = 'member' AND p_user IS NOT NULL AND g.subject IN ('', p_user)) OR (g.kind = 'key' AND g.subject = p_key) OR (g.kind = 'conversation' AND g.subject IN ('', p_conversation)))
    ORDER BY g.kind, g.subject DESC
  LOOP
    IF b.limit_usd IS NULL THEN CONTINUE; END IF;
    SELECT * INTO c FROM gateway.budget_cycle(b.period, b.reset_day, b.seconds, b.anchor, p_at);
    account := NULL;
    SELECT a.id INTO account FROM gateway.budget_account a WHERE a.org_id = p_org AND a.kind = b.kind AND a.subject = b.whose AND a.cycle_start = c.starts AND a.cycle_end = c.ends;
    IF account IS NULL THEN
      -- Nobody writes the ledger for this moment: what is counted here is not counted again by gateway.charge_accounts, and nothing is missed.
      PERFORM pg_advisory_xact_lock(hashtextextended('gateway.ledger', 0));
      INSERT INTO gateway.budget_account (org_id, kind, subject, cycle_start, cycle_end, spent)
        SELECT p_org, b.kind, b.whose, c.starts, c.ends, gateway.spent_of(p_org, b.kind, b.whose, c.starts, c.ends)
      ON CONFLICT DO NOTHING;
      SELECT a.id INTO account FROM gateway.budget_account a WHERE a.org_id = p_org AND a.kind = b.kind AND a.subject = b.whose AND a.cycle_start = c.starts AND a.cycle_end = c.ends;
    END IF;
    kind := b.kind;
    subject := b.whose;
    cycle_end := c.ends;
    RETURN NEXT;
  END LOOP;
END $$;
