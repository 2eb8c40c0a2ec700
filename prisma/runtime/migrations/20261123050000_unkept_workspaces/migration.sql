-- slipway: expand-only
-- Whether the workspace of a used sandbox came into the store (issue 14, section 8): until it did, nobody is told that it is kept, and the sandbox stays.

-- kept_at: when the workspace was kept, written before the sandbox ends. failing_since: since when keeping it fails; null while it has not failed. problem: what failed last.
-- lost: the sandbox went without it; it could not be asked any more, or was given up (apps/runtime-api/src/pool/slot-removal.ts says when).
ALTER TABLE runtime.slot
  ADD COLUMN workspace_kept_at timestamptz(3),
  ADD COLUMN workspace_failing_since timestamptz(3),
  ADD COLUMN workspace_problem text,
  ADD COLUMN workspace_lost boolean NOT NULL DEFAULT false;
CREATE INDEX slot_workspace_failing_idx ON runtime.slot (workspace_failing_since) WHERE workspace_failing_since IS NOT NULL;
