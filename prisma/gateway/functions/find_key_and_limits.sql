-- A key by its id in one round trip, whatever its state, with everything that limits it at p_at.
CREATE OR REPLACE FUNCTION gateway.find_key_and_limits(p_id text, p_at timestamptz)
RETURNS TABLE (
  org_id text, conversation_id uuid, user_id text, models text[], hash bytea, expires_at timestamptz, revoked_at timestamptz, blocked boolean, metadata jsonb,
  sealed_providers bytea, stop_reason text, stop_until timestamptz, budgets jsonb, rates jsonb
)
LANGUAGE plpgsql AS $$
DECLARE
  k gateway.virtual_key;
  s gateway.budget_stop;
  g gateway.team;
  v_budgets jsonb;
  v_rates jsonb;
BEGIN
  PERFORM set_config('gateway.key_id', p_id, true);
  SELECT * INTO k FROM gateway.virtual_key v WHERE v.id = p_id;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM set_config('app.org', k.org_id, true);
  SELECT * INTO s FROM gateway.budget_stop b WHERE b.org_id = k.org_id AND b.user_id IN ('', coalesce(k.user_id, '')) AND b.until > now() ORDER BY b.user_id LIMIT 1;
  SELECT * INTO g FROM gateway.team t WHERE t.org_id = k.org_id;
  IF cardinality(g.models) > 0 THEN
    -- What a key of its own list may not use of its organization's is a model without a name.
    k.models := CASE WHEN cardinality(k.models) = 0 THEN g.models ELSE coalesce((SELECT array_agg(m) FROM unnest(k.models) m WHERE m = ANY (g.models)), '{""}') END;
  END IF;
  SELECT jsonb_agg(jsonb_build_object('account', o.account, 'kind', o.kind, 'until', extract(epoch FROM o.cycle_end) * 1000))
  INTO v_budgets FROM gateway.open_budgets(k.org_id, k.user_id, k.id, k.conversation_id::text, p_at) o;
  SELECT jsonb_agg(jsonb_build_object('kind', r.kind, 'subject', r.subject, 'rpm', r.rpm, 'tpm', r.tpm))
  INTO v_rates FROM gateway.rate_limit r
  WHERE r.org_id = k.org_id AND (r.kind IN ('org', 'model') OR (r.kind = 'member' AND r.subject = k.user_id) OR (r.kind = 'key' AND r.subject = k.id));
  RETURN QUERY SELECT k.org_id, k.conversation_id, k.user_id, k.models, k.hash, k.expires_at::timestamptz, k.revoked_at::timestamptz, k.blocked OR coalesce(g.blocked, false), k.metadata, k.sealed_providers, s.reason, s.until::timestamptz,
    coalesce(v_budgets, '[]'), coalesce(v_rates, '[]');
END $$;
