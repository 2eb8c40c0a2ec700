-- The user who is linked to an actor of a provider, and what stops them now. Links made in the organization itself
-- come first. No row: nobody has linked the account.
-- Called within the organization's transaction.
CREATE OR REPLACE FUNCTION app.integration_actor(p_org text, p_provider text, p_host text, p_external text)
RETURNS TABLE (user_id text, label text, role text, over_budget boolean)
LANGUAGE sql STABLE AS $$
  WITH linked AS (
    SELECT l.user_id FROM app.linked_account l WHERE l.org_id = p_org AND l.provider = p_provider AND l.host = p_host AND l.external_user_id = p_external
  ), identity AS (
    SELECT l.user_id FROM linked l
    UNION ALL
    SELECT i.user_id FROM app.external_identity i
    WHERE i.provider = p_provider AND i.host = p_host AND i.external_user_id = p_external AND NOT EXISTS (SELECT 1 FROM linked)
  )
  SELECT i.user_id, u.name, m.role,
    EXISTS (SELECT 1 FROM app.budget_stop s WHERE s.org_id = p_org AND s.user_id IN ('', i.user_id) AND s.until > now())
  FROM identity i
  JOIN app.user_account u ON u.id = i.user_id AND u.deactivated_at IS NULL
  LEFT JOIN app.membership m ON m.org_id = p_org AND m.user_id = i.user_id
$$;
