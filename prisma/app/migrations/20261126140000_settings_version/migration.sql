-- slipway: expand-only
-- Counts the changes of a conversation's own agent settings, whoever makes them (functions/count_settings_change.sql). Together with `org.settings_version` it is the version of the document
-- that its agent gets; `checkpoint.settingsVersion` is the one that the agent has acknowledged (docs/decisions/0048).
ALTER TABLE app.conversation ADD COLUMN settings_version integer NOT NULL DEFAULT 0;
