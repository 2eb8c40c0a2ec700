-- slipway: expand-only
-- Conversations of an organization that have a sandbox or wait for one: asked for each second while a start waits (apps/worker/src/start/room.ts).
CREATE INDEX conversation_org_id_live_idx ON app.conversation (org_id) WHERE sandbox_status IN ('STARTING', 'RUNNING');
