-- Notes uses of keys of any organization: [{id, at, address, route}]. No-op for a use that is older than the one on
-- record.
CREATE OR REPLACE FUNCTION app.note_api_key_uses(p_uses jsonb) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  -- Locked in one order, so that replicas that note the same keys do not wait for each other in a ring.
  PERFORM 1 FROM app.api_key k WHERE k.id IN (SELECT u ->> 'id' FROM jsonb_array_elements(p_uses) u) ORDER BY k.id FOR NO KEY UPDATE;
  UPDATE app.api_key k SET last_used_at = u.at, last_used_address = u.address, last_used_route = u.route
  FROM jsonb_to_recordset(p_uses) AS u(id text, at timestamptz, address text, route text)
  WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at);
END $$;
