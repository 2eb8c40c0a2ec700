-- slipway: expand-only
-- How much of the workspace store each organization takes: without a limit one of them could fill it for all.

-- Of the session's workspace as it was kept last; null: it was never kept in the store, or by a backend that has none.
ALTER TABLE runtime.session ADD COLUMN workspace_bytes bigint;
CREATE INDEX session_workspace_bytes_idx ON runtime.session (org_id) INCLUDE (workspace_bytes) WHERE workspace_bytes IS NOT NULL AND workspace_ref IS NOT NULL;

-- Null: the limit of the installation (WORKSPACE_LIMIT_GIB). 0: none.
ALTER TABLE runtime.org_usage ADD COLUMN workspace_limit_bytes bigint CHECK (workspace_limit_bytes >= 0);
