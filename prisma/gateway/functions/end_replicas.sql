-- Charges the calls that replicas left under way and frees all else that they hold, in one commit.
CREATE OR REPLACE FUNCTION gateway.end_replicas(p_replicas uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_gateway_system', true);
  -- Whoever takes for one of them waits here or finds it gone.
  PERFORM 1 FROM gateway.budget_replica p WHERE p.id = ANY (p_replicas) ORDER BY p.id FOR UPDATE;
  -- As every writer of the ledger: first its lock, then the accounts in their order.
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('gateway.ledger', 0));
  PERFORM 1 FROM gateway.budget_account x WHERE x.id IN (
    SELECT l.account FROM gateway.budget_lease l WHERE l.replica = ANY (p_replicas)
    UNION
    SELECT a.id FROM gateway.open_call c
    CROSS JOIN LATERAL (VALUES ('org', ''), ('member', c.entry->>'user_id'), ('key', c.entry->>'key_id'), ('conversation', c.entry->>'conversation_id')) w(kind, subject)
    JOIN gateway.budget_account a ON a.org_id = c.org_id AND a.kind = w.kind AND a.subject = w.subject
    WHERE c.replica = ANY (p_replicas)
  ) ORDER BY x.id FOR UPDATE;
  PERFORM gateway.settle_open_calls(p_replicas);
  UPDATE gateway.budget_account x SET freed = x.freed + s.held
    FROM (SELECT l.account, sum(greatest(l.held, 0))::bigint AS held FROM gateway.budget_lease l WHERE l.replica = ANY (p_replicas) GROUP BY l.account) s WHERE x.id = s.account;
  PERFORM pg_notify('slipway_gateway', 'freed ' || l.account) FROM gateway.budget_lease l WHERE l.replica = ANY (p_replicas);
  DELETE FROM gateway.budget_lease l WHERE l.replica = ANY (p_replicas);
  DELETE FROM gateway.budget_replica p WHERE p.id = ANY (p_replicas);
END $$;
