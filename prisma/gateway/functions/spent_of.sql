-- Ticks spent according to the ledger. Under the caller's own row-level security.
CREATE OR REPLACE FUNCTION gateway.spent_of(p_org text, p_kind text, p_subject text, p_from timestamptz, p_to timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE v_sum numeric;
BEGIN
  IF p_kind = 'org' THEN SELECT sum(l.cost_usd) INTO v_sum FROM gateway.ledger l WHERE l.org_id = p_org AND l.started_at >= p_from AND l.started_at < p_to;
  ELSIF p_kind = 'member' THEN
    SELECT sum(l.cost_usd) INTO v_sum FROM gateway.ledger l WHERE l.org_id = p_org AND l.user_id = p_subject AND l.started_at >= p_from AND l.started_at < p_to;
  ELSIF p_kind = 'key' THEN
    SELECT sum(l.cost_usd) INTO v_sum FROM gateway.ledger l WHERE l.org_id = p_org AND l.key_id = p_subject AND l.started_at >= p_from AND l.started_at < p_to;
  ELSE
    SELECT sum(l.cost_usd) INTO v_sum FROM gateway.ledger l WHERE l.org_id = p_org AND l.conversation_id = p_subject::uuid AND l.started_at >= p_from AND l.started_at < p_to;
  END IF;
  RETURN (coalesce(v_sum, 0) * 10000000000)::bigint;
END $$;
