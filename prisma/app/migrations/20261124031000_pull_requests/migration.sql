-- slipway: expand-only
-- What conversations publish: one pull request of a conversation and a repository.

CREATE TABLE app.pull_request (
  id uuid PRIMARY KEY,
  org_id text NOT NULL,
  conversation_id uuid NOT NULL,
  -- Null: the connection is deleted.
  connection_id text REFERENCES app.integration_connection (id) ON DELETE SET NULL,
  provider text NOT NULL,
  host text NOT NULL,
  -- owner/name
  repository text NOT NULL,
  -- Null until it is opened.
  number integer,
  url text,
  title text NOT NULL DEFAULT '',
  branch text,
  base text,
  -- The head as last seen.
  head_sha text,
  -- Where our last push left the branch.
  pushed_sha text,
  -- The commit of a push whose outcome is not known yet.
  pushing_sha text,
  -- Hash of what the head holds (its folder and parents): the same again is not pushed again.
  content text,
  -- none, open, closed or merged.
  state text NOT NULL DEFAULT 'none',
  draft boolean NOT NULL DEFAULT true,
  -- {state, pending, failed, passed}, and each of them.
  checks jsonb NOT NULL DEFAULT '{"state":"none","pending":0,"failed":0,"passed":0}',
  check_list jsonb NOT NULL DEFAULT '[]',
  -- none, commented, approved or changes-requested.
  review text NOT NULL DEFAULT 'none',
  conflicts boolean,
  -- What was asked for last, by whom: {title?, body?, base?, draft, allowProtectedPaths, by, at}.
  wanted jsonb NOT NULL,
  -- Grows with each request; done when both are the same.
  wanted_version integer NOT NULL DEFAULT 1,
  done_version integer NOT NULL DEFAULT 0,
  -- queued, waiting, done or failed.
  publish text NOT NULL DEFAULT 'queued',
  -- {sha, by, at} of a merge that was asked for and is not done.
  merge_wanted jsonb,
  -- queued, done or refused; null: none was asked for.
  merge text,
  -- {code, detail, at}
  problem jsonb,
  -- Review comments that wait for an answer: [{commentId, at}].
  replies jsonb NOT NULL DEFAULT '[]',
  -- What the log of the conversation says of it.
  told jsonb,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  published_at timestamptz(3),
  refreshed_at timestamptz(3)
);
-- Never a second one.
CREATE UNIQUE INDEX pull_request_conversation_id_host_repository_key ON app.pull_request (conversation_id, host, repository);
-- What a delivery of the provider is about.
CREATE INDEX pull_request_org_id_host_repository_number_idx ON app.pull_request (org_id, host, repository, number);
CREATE INDEX pull_request_connection_id_idx ON app.pull_request (connection_id);

ALTER TABLE app.pull_request ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.pull_request FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON app.pull_request USING (org_id = current_setting('app.org', true)) WITH CHECK (org_id = current_setting('app.org', true));
CREATE POLICY system ON app.pull_request TO slipway_app_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.pull_request TO slipway_app, slipway_app_system;
