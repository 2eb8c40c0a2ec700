-- Which of these claims wait no longer: their sessions have sandboxes, or their places are gone. The others are marked
-- as seen.
CREATE OR REPLACE FUNCTION runtime.watch_waiting(p_claims text[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('role', 'slipway_runtime_system', true), set_config('synchronous_commit', 'off', true);
  UPDATE runtime.waiting w SET seen_at = now() WHERE w.claim_id IN (
    SELECT t.claim_id FROM runtime.waiting t WHERE t.claim_id = ANY (p_claims) AND t.seen_at < now() - interval '2 seconds' FOR UPDATE SKIP LOCKED
  );
  RETURN QUERY SELECT u.claim_id FROM unnest(p_claims) AS u(claim_id) WHERE NOT EXISTS (
    SELECT 1 FROM runtime.waiting w WHERE w.claim_id = u.claim_id
      AND NOT EXISTS (SELECT 1 FROM runtime.claim c WHERE c.org_id = w.org_id AND c.session_id = w.session_id AND c.ended_at IS NULL)
  );
END $$;
