-- Ends sessions, each with an audit entry in the personal organization of its user, and returns those that existed.
-- p_actor: `user`, the user of the session, or `system`, the sign-in service and the sweeps.
-- Takes the system role for its transaction: a session belongs to a user, not to an organization.
CREATE OR REPLACE FUNCTION app.end_sessions(p_ids text[], p_reason text, p_actor text, p_request_id text, p_address text)
RETURNS TABLE (id text, user_id text, tokens bytea)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v record;
BEGIN
  PERFORM set_config('role', 'slipway_app_system', true);
  FOR v IN
    DELETE FROM app.session s WHERE s.id IN (SELECT l.id FROM app.session l WHERE l.id = ANY (p_ids) ORDER BY l.id FOR UPDATE)
    RETURNING s.id, s.user_id, s.tokens, (SELECT u.name FROM app.user_account u WHERE u.id = s.user_id) AS name
  LOOP
    INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, detail, request_id, address)
      SELECT gen_random_uuid(), o.id, p_actor, CASE p_actor WHEN 'user' THEN v.user_id ELSE 'sign-in' END,
        CASE p_actor WHEN 'user' THEN v.name ELSE 'Sign-in' END, 'session.end', v.id, jsonb_build_object('reason', p_reason), p_request_id, p_address
      FROM app.membership m JOIN app.org o ON o.id = m.org_id AND o.kind = 'personal' WHERE m.user_id = v.user_id AND m.role = 'owner'
      ORDER BY o.created_at, o.id LIMIT 1;
    id := v.id;
    user_id := v.user_id;
    tokens := v.tokens;
    RETURN NEXT;
  END LOOP;
END $$;
