-- A key by its id in one round trip, whatever its state.
CREATE OR REPLACE FUNCTION gateway.find_key(p_id text)
RETURNS TABLE (org_id text, conversation_id uuid, user_id text, models text[], hash bytea, expires_at timestamptz, revoked_at timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('gateway.key_id', p_id, true);
  RETURN QUERY SELECT k.org_id, k.conversation_id, k.user_id, k.models, k.hash, k.expires_at::timestamptz, k.revoked_at::timestamptz FROM gateway.virtual_key k WHERE k.id = p_id;
END $$;
