-- slipway: expand-only
-- A message that somebody sends straight to agent-server, through sandbox-gateway, counts for them: the gateway asks whether their budget is used up, and says who pays from now on.
-- It names an access and no user: who that is, and of which conversation, is the row's.
GRANT SELECT (org_id, user_id, limit_usd, until) ON app.budget_stop TO slipway_sandbox;
CREATE POLICY sandbox ON app.budget_stop FOR SELECT TO slipway_sandbox USING (true);

GRANT SELECT (conversation_id, org_id, user_id, user_label, applied), INSERT (conversation_id, org_id, user_id, user_label), UPDATE (user_id, user_label, applied)
  ON app.conversation_spender TO slipway_sandbox;
CREATE POLICY sandbox ON app.conversation_spender TO slipway_sandbox USING (true) WITH CHECK (true);
-- Beside every other policy: only who may reach that agent-server now, and never that llm-gateway has been told.
CREATE POLICY sandbox_new ON app.conversation_spender AS RESTRICTIVE FOR INSERT TO slipway_sandbox WITH CHECK (
  applied IS NULL AND EXISTS (SELECT 1 FROM app.sandbox_grant g WHERE g.org_id = conversation_spender.org_id AND g.conversation_id = conversation_spender.conversation_id
    AND g.user_id = conversation_spender.user_id AND g.port = 8000 AND g.revoked_at IS NULL AND g.expires_at > now()));
CREATE POLICY sandbox_changed ON app.conversation_spender AS RESTRICTIVE FOR UPDATE TO slipway_sandbox USING (true) WITH CHECK (
  applied IS NULL AND EXISTS (SELECT 1 FROM app.sandbox_grant g WHERE g.org_id = conversation_spender.org_id AND g.conversation_id = conversation_spender.conversation_id
    AND g.user_id = conversation_spender.user_id AND g.port = 8000 AND g.revoked_at IS NULL AND g.expires_at > now()));

-- Worker looks for these four times a second.
CREATE INDEX conversation_spender_untold_idx ON app.conversation_spender (conversation_id) WHERE applied IS NULL;

-- Whether the holder of an access to agent-server may spend, and, when p_pays, that the conversation counts for them from now on. No row: the access holds no longer.
-- limit_usd is null when nothing holds them back; whose is null for the organization's own budget. told: llm-gateway has acknowledged who pays.
CREATE FUNCTION app.spend_through_sandbox(p_grant text, p_pays boolean)
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
