-- The key of a token, with what its owner may do now. No row when the key does not exist, is revoked or has expired,
-- when its organization awaits deletion, or when its owner is no longer a member, is deactivated or deleted.
-- Takes the system role for its transaction: only the key knows its organization.
CREATE OR REPLACE FUNCTION app.find_api_key(p_id text)
RETURNS TABLE (
  id text, org_id text, org_slug text, org_name text, org_kind text, owner_kind text, owner_id text, owner_label text, owner_email text, owner_email_verified boolean, role text,
  scopes text[], hash bytea, not_before timestamptz, expires_at timestamptz
)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  RETURN QUERY
    SELECT k.id, k.org_id, o.slug, o.name, o.kind, k.owner_kind, k.owner_id, coalesce(u.name, a.name), u.email, coalesce(u.email_verified, false), coalesce(m.role, a.role),
      k.scopes, k.hash, k.not_before::timestamptz, k.expires_at::timestamptz
    FROM app.api_key k
    JOIN app.org o ON o.id = k.org_id
    LEFT JOIN app.user_account u ON k.owner_kind = 'user' AND u.id = k.owner_id AND u.deactivated_at IS NULL
    LEFT JOIN app.membership m ON m.org_id = k.org_id AND m.user_id = u.id
    LEFT JOIN app.service_account a ON k.owner_kind = 'service-account' AND a.id = k.owner_id AND a.org_id = k.org_id AND a.deleted_at IS NULL
    WHERE k.id = p_id AND k.revoked_at IS NULL AND k.expires_at > now() AND o.deletes_at IS NULL AND (m.role IS NOT NULL OR a.role IS NOT NULL);
END $$;
