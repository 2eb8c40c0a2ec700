-- slipway: expand-only
-- When somebody last worked through an access to a sandbox, as sandbox-gateway saw it: worker leaves such a sandbox alone. NULL: never, or only in what agent-server tells itself.
ALTER TABLE app.sandbox_grant ADD COLUMN used_at timestamptz(3);
GRANT SELECT (used_at), UPDATE (used_at) ON app.sandbox_grant TO slipway_sandbox;

-- Notes that these accesses were used so many seconds ago; what is noted already is never made older. Two gateways lock in one order.
CREATE FUNCTION app.note_sandbox_use(p_ids text[], p_seconds_ago double precision[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM app.as_system_if_may();
  UPDATE app.sandbox_grant g SET used_at = greatest(g.used_at, now() - make_interval(secs => u.seconds_ago))
  FROM unnest(p_ids, p_seconds_ago) AS u(id, seconds_ago)
  JOIN (SELECT l.id FROM app.sandbox_grant l WHERE l.id = ANY (p_ids) ORDER BY l.id FOR NO KEY UPDATE) locked ON locked.id = u.id
  WHERE g.id = u.id;
END $$;
