-- Uses one call of a pass, for a key of its conversation. Returns whose call that is and what limits them at p_at. No
-- row: no such pass, another conversation's, used up, or expired.
CREATE OR REPLACE FUNCTION gateway.use_charge_pass(p_hash bytea, p_org text, p_key text, p_conversation uuid, p_at timestamptz)
RETURNS TABLE (user_id text, user_label text, stop_reason text, stop_until timestamptz, budgets jsonb, rates jsonb)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  c gateway.charge_pass;
  s gateway.budget_stop;
  v_budgets jsonb;
  v_rates jsonb;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  UPDATE gateway.charge_pass p SET calls_left = p.calls_left - 1
    WHERE p.hash = p_hash AND p.org_id = p_org AND p.conversation_id = p_conversation AND p.expires_at > p_at AND p.calls_left > 0
    RETURNING p.* INTO c;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT * INTO s FROM gateway.budget_stop b WHERE b.org_id = p_org AND b.user_id IN ('', c.user_id) AND b.until > now() ORDER BY b.user_id LIMIT 1;
  SELECT jsonb_agg(jsonb_build_object('account', o.account, 'kind', o.kind, 'until', extract(epoch FROM o.cycle_end) * 1000))
  INTO v_budgets FROM gateway.open_budgets(p_org, c.user_id, p_key, p_conversation::text, p_at) o;
  SELECT jsonb_agg(jsonb_build_object('kind', r.kind, 'subject', r.subject, 'rpm', r.rpm, 'tpm', r.tpm))
  INTO v_rates FROM gateway.rate_limit r
  WHERE r.org_id = p_org AND (r.kind IN ('org', 'model') OR (r.kind = 'member' AND r.subject = c.user_id) OR (r.kind = 'key' AND r.subject = p_key));
  RETURN QUERY SELECT c.user_id, c.user_label, s.reason, s.until::timestamptz, coalesce(v_budgets, '[]'), coalesce(v_rates, '[]');
END $$;
