-- Notes that these grants were used so many seconds ago. Never moves a use back in time. Two gateways lock in one
-- order.
CREATE OR REPLACE FUNCTION app.note_sandbox_use(p_ids text[], p_seconds_ago double precision[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM app.as_system_if_may();
  UPDATE app.sandbox_grant g SET used_at = greatest(g.used_at, now() - make_interval(secs => u.seconds_ago))
  FROM unnest(p_ids, p_seconds_ago) AS u(id, seconds_ago)
  JOIN (SELECT l.id FROM app.sandbox_grant l WHERE l.id = ANY (p_ids) ORDER BY l.id FOR NO KEY UPDATE) locked ON locked.id = u.id
  WHERE g.id = u.id;
END $$;
