-- slipway: expand-only
-- What a consent is asked for beside who the user is: to approve a pull request at one commit. Null: an account is linked.
ALTER TABLE app.link_request ADD COLUMN pull_request_id text;
ALTER TABLE app.link_request ADD COLUMN head_sha text;
