-- The invitation of a token, with what its holder may see. Takes the system role for its transaction: only the token
-- knows its organization.
CREATE OR REPLACE FUNCTION app.find_invitation(p_hash bytea)
RETURNS TABLE (
  id uuid, org_id text, org_name text, deletes_at timestamptz, email text, role text, invited_by_label text,
  expires_at timestamptz, revoked_at timestamptz, accepted_at timestamptz, accepted_by text
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT i.id, i.org_id, o.name, o.deletes_at::timestamptz, i.email, i.role, i.invited_by_label,
      i.expires_at::timestamptz, i.revoked_at::timestamptz, i.accepted_at::timestamptz, i.accepted_by
    FROM app.invitation i JOIN app.org o ON o.id = i.org_id
    WHERE i.token_hash = p_hash;
END $$;
