-- Whether the holder of a grant on agent-server may spend. With p_pays, the conversation counts for them from now on.
-- No row: the grant no longer holds.
-- limit_usd is null when nothing limits them; whose is null for the organization's own budget. told: llm-gateway has
-- acknowledged who pays.
CREATE OR REPLACE FUNCTION app.spend_through_sandbox(p_grant text, p_pays boolean)
RETURNS TABLE (whose text, limit_usd text, until timestamptz, told boolean)
LANGUAGE plpgsql AS $$
DECLARE
  v_org text;
  v_user text;
  v_conversation uuid;
  v_label text;
BEGIN
  PERFORM app.as_system_if_may();
  SELECT g.org_id, g.user_id, g.conversation_id, left(coalesce(nullif(u.name, ''), nullif(a.name, ''), g.user_id), 200) INTO v_org, v_user, v_conversation, v_label
    FROM app.sandbox_grant g
    LEFT JOIN app.user_account u ON u.id = g.user_id
    LEFT JOIN app.service_account a ON a.org_id = g.org_id AND a.id = g.user_id
    WHERE g.id = p_grant AND g.port = 8000 AND g.revoked_at IS NULL AND g.expires_at > now();
  IF NOT FOUND THEN RETURN; END IF;
  RETURN QUERY
    SELECT CASE WHEN s.user_id = '' THEN NULL ELSE v_label END, trim_scale(s.limit_usd)::text, s.until::timestamptz, false
    FROM app.budget_stop s WHERE s.org_id = v_org AND s.user_id IN ('', v_user) AND s.until > now() ORDER BY s.user_id LIMIT 1;
  IF FOUND THEN RETURN; END IF;
  -- The row is written only where something changes. A release of worker before this one leaves the acknowledgement of another user standing.
  IF NOT p_pays OR EXISTS (
    SELECT 1 FROM app.conversation_spender s WHERE s.conversation_id = v_conversation AND s.user_id = v_user AND s.applied::json ->> 0 = v_user
  ) THEN
    RETURN QUERY SELECT NULL::text, NULL::text, NULL::timestamptz, true;
    RETURN;
  END IF;
  INSERT INTO app.conversation_spender AS s (conversation_id, org_id, user_id, user_label) VALUES (v_conversation, v_org, v_user, v_label)
    ON CONFLICT (conversation_id) DO UPDATE SET user_id = excluded.user_id, user_label = excluded.user_label, applied = NULL;
  RETURN QUERY SELECT NULL::text, NULL::text, NULL::timestamptz, false;
END $$;
