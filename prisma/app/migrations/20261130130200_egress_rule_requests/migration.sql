-- slipway: expand-only
-- Rules that are limited to methods and paths: their host is opened, and credential-broker judges each request.
--
-- What a limited rule does is in request_action, and its `action` is always 'deny'. An app-server of before knows only
-- `action`: beside a new one, and after going back, it refuses the host as a whole, listed or observed ones too. Read as
-- a plain 'allow', or not matched at all, the connection might pass unopened and every method with it.
ALTER TABLE app.egress_rule
  ADD COLUMN request_action text CHECK (request_action IS NULL OR (request_action IN ('allow', 'deny') AND action = 'deny')),
  -- Empty: every method, every path.
  ADD COLUMN methods text[] NOT NULL DEFAULT '{}' CHECK (methods = '{}' OR request_action IS NOT NULL),
  ADD COLUMN paths text[] NOT NULL DEFAULT '{}' CHECK (paths = '{}' OR request_action IS NOT NULL),
  -- Whether requests may bring credentials of their own.
  ADD COLUMN foreign_credentials text CHECK (foreign_credentials IN ('refuse', 'allow')),
  ADD COLUMN websocket boolean NOT NULL DEFAULT false;
