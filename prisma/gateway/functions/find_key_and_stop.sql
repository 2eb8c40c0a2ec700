-- A key by its id in one round trip, whatever its state, with what stops it now.
CREATE OR REPLACE FUNCTION gateway.find_key_and_stop(p_id text)
RETURNS TABLE (
  org_id text, conversation_id uuid, user_id text, models text[], hash bytea, expires_at timestamptz, revoked_at timestamptz, stop_reason text, stop_until timestamptz
)
LANGUAGE plpgsql AS $$
DECLARE
  k gateway.virtual_key;
  s gateway.budget_stop;
BEGIN
  PERFORM set_config('gateway.key_id', p_id, true);
  SELECT * INTO k FROM gateway.virtual_key v WHERE v.id = p_id;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM set_config('app.org', k.org_id, true);
  SELECT * INTO s FROM gateway.budget_stop b WHERE b.org_id = k.org_id AND b.user_id IN ('', coalesce(k.user_id, '')) AND b.until > now() ORDER BY b.user_id LIMIT 1;
  RETURN QUERY SELECT k.org_id, k.conversation_id, k.user_id, k.models, k.hash, k.expires_at::timestamptz, k.revoked_at::timestamptz, s.reason, s.until::timestamptz;
END $$;
