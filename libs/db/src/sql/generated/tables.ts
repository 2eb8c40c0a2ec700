// Made by `npm run generate` from prisma/*/*.prisma.

/** The columns of every table, as a pool of `createPool` reads them. */
export interface Tables {
  'app.analytics_conversation': {
    readonly conversation_id: string;
    readonly org_id: string;
    readonly upto: number;
    readonly state: unknown;
  };
  'app.analytics_cursor': {
    readonly source: string;
    readonly until: Date;
  };
  'app.analytics_event': {
    /** UUIDv5 of what it is about and its name. */
    readonly id: string;
    readonly org_id: string;
    readonly user_id: string;
    readonly name: string;
    readonly at: Date;
    readonly properties: unknown;
    readonly made_at: Date;
  };
  'app.analytics_member': {
    readonly org_id: string;
    readonly user_id: string;
    readonly activated_at: Date | null;
  };
  'app.analytics_position': {
    readonly org_id: string;
    readonly audit_seq: number;
  };
  'app.api_key': {
    readonly id: string;
    readonly org_id: string;
    readonly name: string;
    /** 'user' or 'service-account' */
    readonly owner_kind: string;
    readonly owner_id: string;
    readonly scopes: string[];
    /** SHA-256 of the secret. */
    readonly hash: Buffer;
    readonly prefix: string;
    readonly last4: string;
    readonly not_before: Date | null;
    readonly expires_at: Date;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly created_at: Date;
    readonly last_used_at: Date | null;
    readonly last_used_address: string | null;
    readonly last_used_route: string | null;
    readonly revoked_at: Date | null;
    readonly replaced_by: string | null;
    /** The key that this one was made with; it ends with that one. */
    readonly made_by_key: string | null;
  };
  'app.attachment': {
    readonly id: string;
    readonly org_id: string;
    /** Null: it waits for the conversation that it is for. */
    readonly conversation_id: string | null;
    readonly name: string;
    readonly media_type: string;
    readonly bytes: number;
    readonly content: Buffer;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly created_at: Date;
    /** The message that it was sent with, and its place there; null: not sent. */
    readonly message_id: string | null;
    readonly place: number;
    /** When it is deleted; null: with its conversation. */
    readonly expires_at: Date | null;
  };
  'app.audit_chain': {
    readonly org_id: string;
    readonly seq: number;
    readonly entry_id: string;
    readonly previous: Buffer;
    readonly hash: Buffer;
  };
  'app.audit_entry': {
    readonly id: string;
    readonly org_id: string;
    readonly actor_kind: string;
    readonly actor_id: string;
    readonly action: string;
    readonly target: string;
    readonly detail: unknown;
    readonly request_id: string | null;
    readonly created_at: Date;
    readonly actor_label: string | null;
    /** The API key that it was done with. */
    readonly via_key: string | null;
    readonly address: string | null;
    readonly before: unknown;
    readonly after: unknown;
  };
  'app.authorization_request': {
    readonly id: string;
    readonly org_id: string;
    readonly user_id: string;
    readonly session_id: string;
    readonly connection_id: string;
    readonly state_hash: Buffer;
    readonly nonce_hash: Buffer;
    readonly expires_at: Date;
    readonly taken_at: Date | null;
    readonly found: unknown;
  };
  'app.blob': {
    readonly org_id: string;
    readonly sha256: string;
    readonly bytes: number;
    readonly content: Buffer;
    readonly created_at: Date;
  };
  'app.budget': {
    readonly org_id: string;
    readonly enabled: boolean;
    readonly reset_day: number;
    readonly org_limit_usd: string | null;
    readonly member_limit_usd: string | null;
    readonly version: number;
    readonly stops_version: number;
    readonly told_version: number;
    readonly limits_version: number;
    readonly told_limits_version: number;
    /** Models without a price may be called although a budget holds. */
    readonly allow_unpriced: boolean;
  };
  'app.budget_notice': {
    readonly id: string;
    readonly org_id: string;
    readonly user_id: string;
    readonly cycle_start: Date;
    readonly cycle_end: Date;
    readonly threshold: number;
    readonly spent_usd: string;
    readonly limit_usd: string;
    readonly created_at: Date;
    /** When it was put into the outgoing mail, or left out because a higher one of the same limit was. */
    readonly mailed_at: Date | null;
  };
  'app.budget_override': {
    readonly org_id: string;
    readonly user_id: string;
    readonly limit_usd: string | null;
    readonly changed_at: Date;
    readonly changed_by: string;
  };
  'app.budget_stop': {
    readonly org_id: string;
    readonly user_id: string;
    readonly limit_usd: string;
    readonly until: Date;
  };
  'app.charge_pass_request': {
    readonly hash: Buffer;
    readonly org_id: string;
    readonly conversation_id: string;
    readonly user_id: string;
    readonly user_label: string;
    readonly made_at: Date;
  };
  'app.checkpoint': {
    readonly org_id: string;
    readonly id: string;
    readonly conversation_id: string;
    readonly seq: number;
    readonly after_event_id: string;
    readonly epoch: number;
    /** Of the same conversation, or what that was forked from. */
    readonly parent_id: string | null;
    readonly root: Buffer;
    readonly content_hash: Buffer;
    /** `durable` or `expired`. */
    readonly state: string;
    readonly reason: string;
    readonly quiet: boolean;
    readonly complete: boolean;
    readonly skipped: unknown;
    readonly secrets: unknown;
    readonly files: number;
    readonly logical_bytes: number;
    readonly new_bytes: number;
    readonly name: string | null;
    readonly pinned_by: string | null;
    readonly taken_at: Date;
    readonly durable_at: Date;
    /** Null: by the organization's `checkpointDays`. */
    readonly expires_at: Date | null;
  };
  'app.checkpoint_pack': {
    readonly org_id: string;
    readonly checkpoint_id: string;
    readonly pack_id: string;
  };
  'app.conversation': {
    readonly id: string;
    readonly org_id: string;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly title: string;
    readonly repository: string | null;
    readonly branch: string | null;
    /** Which environment's secrets it gets. */
    readonly environment: string | null;
    /** How often its agent asks before it acts: `never`, `risky`, `always`. The organization's own mode is a floor above it. */
    readonly confirmation_mode: string;
    /** Counts the changes of the conversation's own agent settings; a trigger does. */
    readonly settings_version: number;
    /** As the release before counts changes of `confirmation_mode`; a trigger does. Goes in 0.2.0. */
    readonly confirmation_version: number;
    /** `default` or `plan`. */
    readonly agent_type: string;
    /** Of its own; NULL: none. */
    readonly max_iterations: number | null;
    readonly max_budget_usd: string | null;
    /** Label of who stopped or paused it last; NULL: no user, or it goes on. */
    readonly halted_by: string | null;
    /** As the release before counts changes of the three above; a trigger does. Goes in 0.2.0. */
    readonly terms_version: number;
    readonly model: string;
    /** ConversationStatus, ExecutionStatus, SandboxStatus, StartStatus of libs/contracts. */
    readonly status: string;
    readonly execution_status: string;
    readonly sandbox_status: string;
    readonly start_status: string;
    /** What reduceConversationStatus needs to take the next event. */
    readonly status_state: unknown;
    /** `run`: should have a sandbox. `rest`: should have none. */
    readonly desired: string;
    /** Counts starts. */
    readonly attempt: number;
    /** Lease generation of the sandbox that may write. */
    readonly epoch: number;
    /** Last producer sequence that this epoch has stored. */
    readonly acked: number;
    readonly lease_until: Date | null;
    /** Last `seq` of the log. */
    readonly head: number;
    readonly steps: unknown;
    /** What the start saga has done of this attempt (worker's own). */
    readonly checkpoint: unknown;
    readonly runtime_id: string | null;
    readonly sandbox_url: string | null;
    readonly sandbox_key: Buffer | null;
    readonly working_dir: string | null;
    readonly base_commit: string | null;
    readonly forked_from: string | null;
    readonly forked_seq: number | null;
    readonly cost_usd: string;
    /** `costUsd` in millionths, made by the database, to order by. */
    readonly cost_micros: number | null;
    /** `title` in small letters, made by the database, to search in. */
    readonly title_folded: string | null;
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly traceparent: string | null;
    /** Bytes of its events and messages, of the payloads that they refer to, and of its workspace as last seen. */
    readonly log_bytes: number;
    readonly blob_bytes: number;
    readonly snapshot_bytes: number;
    /** Blocks of storage that it has taken of its organization, and how much of that beyond the limit. Bytes. */
    readonly granted_bytes: number;
    readonly reserve_bytes: number;
    readonly tags: string[];
    readonly archived_at: Date | null;
    /** Deleted by a user: hidden by a policy from whoever does not ask for deleted ones, removed 48 hours later. */
    readonly deleted_at: Date | null;
    readonly deleted_by_label: string | null;
    readonly created_at: Date;
    readonly updated_at: Date;
  };
  'app.conversation_blob': {
    readonly conversation_id: string;
    readonly sha256: string;
    readonly org_id: string;
  };
  'app.conversation_outcome': {
    readonly org_id: string;
    readonly conversation_id: string;
    readonly created_at: Date;
    readonly user_id: string;
    readonly user_label: string;
    /** Host and path in small letters; '' for none. */
    readonly repository: string;
    readonly model: string;
    readonly source: string | null;
    readonly cost_usd: string;
    readonly failed_calls_usd: string;
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly failed_turns_usd: string;
    readonly turns: number;
    readonly failed_turns: number;
    readonly start_wait_ms: number | null;
    readonly approval_waits_ms: number[];
    readonly last_at: Date | null;
    /** Turns that ended up to this position of the log are counted. */
    readonly upto: number;
    readonly read_head: number;
  };
  'app.conversation_pin': {
    readonly org_id: string;
    readonly user_id: string;
    readonly conversation_id: string;
    readonly created_at: Date;
  };
  'app.conversation_spender': {
    readonly conversation_id: string;
    readonly org_id: string;
    readonly user_id: string;
    readonly user_label: string;
    /** What llm-gateway has acknowledged. */
    readonly applied: string | null;
  };
  'app.credential': {
    readonly id: string;
    readonly org_id: string;
    readonly name: string;
    readonly description: string;
    /** Of before 0.2.0; `use` says it. */
    readonly form: string | null;
    /** `org`, `environment` or `repository`. */
    readonly scope: string;
    readonly scope_value: string;
    readonly use: unknown;
    /** `host:port` of each place, and port 80 of its host. */
    readonly hosts: string[];
    readonly sealed: Buffer;
    readonly key_version: number;
    readonly reference_key: Buffer;
    readonly state: string;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly created_at: Date;
    readonly updated_by: string;
    readonly updated_by_label: string;
    readonly updated_at: Date;
    readonly last_used_at: Date | null;
    /** Why it rests. */
    readonly resting_reason: string | null;
    /** Of the process that uses its refresh token. */
    readonly renewing_by: string | null;
    readonly renewing_until: Date | null;
    readonly renewed_by: string | null;
    readonly renew_unsure: boolean;
    readonly expires_at: Date | null;
  };
  'app.credential_request': {
    readonly org_id: string;
    readonly id: string;
    readonly conversation_id: string;
    readonly claim_id: string;
    readonly host: string;
    readonly port: number;
    readonly credential_id: string;
    readonly place_key: string;
    readonly use: unknown;
    readonly fingerprint: string;
    readonly tries: number;
    readonly first_time: boolean;
    readonly state: string;
    readonly scope: string | null;
    readonly used_by: string | null;
    readonly reason: string;
    readonly created_at: Date;
    readonly decided_at: Date | null;
    readonly decided_by: string | null;
    readonly decided_by_label: string | null;
  };
  'app.credential_revocation': {
    readonly id: string;
    readonly org_id: string;
    readonly connection_id: string;
    readonly kind: string;
    readonly sealed: Buffer;
    readonly key_version: number;
    readonly provider: string;
    readonly host: string;
    readonly settings: unknown;
    readonly attempts: number;
    readonly created_at: Date;
  };
  'app.credential_tally': {
    readonly org_id: string;
    readonly conversation_id: string;
    readonly credential_id: string;
    readonly place: string;
    readonly day: Date;
    readonly uses: number;
    readonly last_at: Date;
  };
  'app.credential_use': {
    readonly org_id: string;
    readonly id: string;
    readonly conversation_id: string;
    readonly credential_id: string;
    readonly place: string;
    readonly fingerprint: string;
    readonly counted: boolean;
    readonly at: Date;
  };
  'app.device_authorization': {
    readonly id: string;
    readonly device_code_hash: Buffer;
    readonly user_code_hash: Buffer;
    readonly client: string;
    readonly scopes: string[];
    readonly address: string | null;
    readonly created_at: Date;
    readonly expires_at: Date;
    readonly interval_seconds: number;
    readonly last_asked_at: Date | null;
    /** waiting, then approved or denied; approved, then delivered */
    readonly state: string;
    readonly org_id: string | null;
    readonly user_id: string | null;
    readonly granted: string[];
    readonly key_days: number | null;
  };
  'app.egress_body': {
    readonly org_id: string;
    readonly conversation_id: string;
    readonly hour: Date;
    readonly host: string;
    readonly port: number;
    readonly type: string;
    readonly folder: string;
    readonly requests: number;
    readonly bytes: number;
    readonly workspace_bytes: number;
    readonly unread_bytes: number;
  };
  'app.egress_grant': {
    readonly org_id: string;
    readonly id: string;
    readonly conversation_id: string;
    readonly day: Date;
    readonly host: string;
    readonly bytes: number;
  };
  'app.egress_observed': {
    readonly org_id: string;
    readonly host: string;
    readonly port: number;
    readonly conversation_id: string;
    readonly connections: number;
    readonly first_at: Date;
    readonly last_at: Date;
  };
  'app.egress_request': {
    readonly org_id: string;
    readonly id: string;
    readonly conversation_id: string;
    readonly claim_id: string;
    readonly host: string;
    readonly port: number;
    readonly action_id: string | null;
    readonly tries: number;
    readonly first_time: boolean;
    readonly state: string;
    readonly scope: string | null;
    readonly reason: string;
    readonly created_at: Date;
    readonly decided_at: Date | null;
    readonly decided_by: string | null;
    readonly decided_by_label: string | null;
  };
  'app.egress_rule': {
    readonly org_id: string;
    readonly id: string;
    readonly scope: string;
    readonly scope_value: string | null;
    readonly host: string;
    readonly below: boolean;
    readonly port: number | null;
    readonly action: string;
    readonly once: boolean;
    readonly expires_at: Date | null;
    readonly reason: string;
    readonly request_id: string | null;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly created_at: Date;
    /** Of a limited rule, whose `action` is `deny` for app-servers that do not know it. */
    readonly request_action: string | null;
    readonly methods: string[];
    readonly paths: string[];
    readonly foreign_credentials: string | null;
    readonly websocket: boolean;
  };
  'app.egress_spent': {
    readonly org_id: string;
    readonly conversation_id: string;
    readonly day: Date;
    readonly host: string;
    readonly bytes: number;
  };
  'app.egress_tally': {
    readonly org_id: string;
    readonly conversation_id: string;
    readonly hour: Date;
    readonly host: string;
    readonly port: number;
    readonly verdict: string;
    readonly rule: string;
    readonly listed: boolean;
    readonly connections: number;
    readonly bytes_out: number;
    readonly bytes_in: number;
    readonly first_at: Date;
    readonly last_at: Date;
  };
  'app.egress_tally_source': {
    readonly org_id: string;
    readonly source: string;
    readonly seq: number;
    readonly at: Date;
  };
  'app.event': {
    readonly conversation_id: string;
    readonly seq: number;
    readonly org_id: string;
    readonly epoch: number;
    /** Null for events of the platform itself. */
    readonly producer_seq: number | null;
    readonly event_id: string;
    readonly kind: string;
    readonly event: unknown;
    readonly created_at: Date;
  };
  'app.external_identity': {
    readonly provider: string;
    readonly host: string;
    readonly external_user_id: string;
    readonly user_id: string;
    readonly login: string;
    readonly linked_at: Date;
  };
  'app.flag_definitions': {
    readonly id: boolean;
    readonly definitions: unknown;
    readonly etag: string | null;
    readonly fetched_at: Date;
  };
  'app.flag_exposure': {
    readonly user_id: string;
    readonly flag: string;
    readonly value: string;
    readonly at: Date;
  };
  'app.former_member': {
    readonly org_id: string;
    readonly user_id: string;
    readonly left_at: Date;
  };
  'app.idempotency_key': {
    readonly org_id: string;
    readonly actor_id: string;
    readonly route: string;
    readonly key: string;
    readonly body_hash: string;
    /** Null while the first request runs. */
    readonly status: number | null;
    readonly response: unknown;
    readonly created_at: Date;
  };
  'app.identity_key': {
    /** Thumbprint of the public key: `kid`. */
    readonly id: string;
    readonly public_key: unknown;
    readonly sealed: Buffer;
    readonly signs_from: Date;
    readonly created_at: Date;
  };
  'app.inbox_message': {
    readonly id: string;
    readonly org_id: string;
    readonly conversation_id: string;
    readonly position: number;
    /** queued → delivered → consumed; or withdrawn. */
    readonly state: string;
    readonly text: string;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly created_at: Date;
    /** Came from a thread at a provider. */
    readonly from_thread: boolean;
    /** Which one; null for messages of earlier releases. */
    readonly thread_connection_id: string | null;
    readonly thread_key: string | null;
    /** 32 hex digits: the trace of the request that sent it. Null for messages of earlier releases. */
    readonly trace_id: string | null;
    /** Queued until the agent's turn ends. */
    readonly held: boolean;
    /** Counts the changes of its text, from 1. */
    readonly version: number;
    /** Of the platform itself, which begins no turn: `read` at the agent's next step, `start` also where it is idle. */
    readonly notice: string | null;
  };
  'app.integration_account_claim': {
    readonly provider: string;
    readonly host: string;
    readonly account_id: string;
    readonly org_id: string;
    readonly connection_id: string;
    readonly claimed_at: Date;
  };
  'app.integration_app': {
    readonly connection_id: string;
    readonly org_id: string;
    readonly app_id: string;
    readonly slug: string;
    readonly url: string | null;
    readonly state: string;
    readonly installation_id: string | null;
    readonly account_id: string | null;
    readonly account_login: string | null;
    readonly account_kind: string | null;
    readonly bot_id: string | null;
    readonly selection: string | null;
    readonly repositories: number | null;
    readonly permissions: unknown;
    readonly checked_at: Date | null;
    readonly recovered_until: Date | null;
    readonly recovered_at: Date | null;
  };
  'app.integration_app_request': {
    readonly id: string;
    readonly org_id: string;
    readonly user_id: string;
    readonly session_id: string;
    readonly kind: string;
    readonly connection_id: string;
    readonly provider: string;
    readonly detail: unknown;
    readonly state_hash: Buffer | null;
    readonly nonce_hash: Buffer | null;
    readonly expires_at: Date;
    readonly taken_at: Date | null;
  };
  'app.integration_connection': {
    readonly id: string;
    readonly org_id: string;
    readonly provider: string;
    readonly kind: string;
    readonly name: string;
    readonly host: string;
    readonly account: string | null;
    readonly platform: boolean;
    readonly signature: string;
    readonly own: unknown;
    readonly settings: unknown;
    readonly state: string;
    readonly state_reason: string | null;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly created_at: Date;
    readonly updated_at: Date;
    readonly verified_at: Date | null;
    readonly last_delivery_at: Date | null;
    readonly limited_until: Date | null;
    readonly paced_until: Date | null;
    /** Which repositories get a webhook; `acme/*`. */
    readonly hook_patterns: string[];
    readonly hooks_listed_at: Date | null;
    readonly hooks_problem: string | null;
    readonly attention_mailed_at: Date | null;
    readonly app_hook: unknown;
    readonly app_hook_at: Date | null;
  };
  'app.integration_dedupe': {
    readonly org_id: string;
    readonly provider: string;
    readonly host: string;
    readonly semantic_key: string;
    readonly delivery_id: string;
    readonly created_at: Date;
  };
  'app.integration_delivery': {
    readonly id: string;
    readonly org_id: string;
    readonly connection_id: string;
    readonly delivery_id: string;
    readonly event: string;
    readonly sealed: Buffer;
    readonly key_version: number;
    readonly bytes: number;
    readonly received_at: Date;
    readonly state: string;
    readonly reason: string | null;
    readonly detail: string | null;
    readonly semantic_key: string | null;
    readonly conversation_id: string | null;
    readonly attempts: number;
    readonly decided_at: Date | null;
  };
  'app.integration_hook': {
    readonly id: string;
    readonly org_id: string;
    readonly connection_id: string;
    readonly repository: string;
    readonly hook_id: string;
    readonly secret_id: string;
    readonly installed_by: string;
    readonly installed_by_label: string;
    readonly installed_at: Date;
    readonly recovered_until: Date | null;
    readonly recovered_at: Date | null;
    /** `queued`, `installed`, `missing-right`, `failed`, `disabled`. */
    readonly state: string;
    readonly detail: string | null;
    readonly checked_at: Date | null;
  };
  'app.integration_recovery': {
    readonly connection_id: string;
    readonly delivery_id: string;
    readonly org_id: string;
    readonly event: string;
    readonly failed_at: Date;
    readonly asked_at: Date;
  };
  'app.integration_secret': {
    readonly id: string;
    readonly org_id: string;
    readonly connection_id: string;
    readonly kind: string;
    readonly sealed: Buffer;
    readonly key_version: number;
    readonly created_at: Date;
    readonly valid_until: Date | null;
    readonly expires_at: Date | null;
    readonly renew_at: Date | null;
    readonly renewing_until: Date | null;
    readonly renew_failures: number;
    readonly renew_problem: string | null;
    readonly refused_at: Date | null;
    readonly scopes: string[];
    readonly checked_at: Date | null;
    readonly end_mailed_at: Date | null;
  };
  'app.integration_thread': {
    readonly connection_id: string;
    readonly thread_key: string;
    readonly org_id: string;
    readonly conversation_id: string | null;
    readonly place: unknown;
    readonly url: string | null;
    readonly title: string;
    readonly confidential: boolean;
    readonly muted_at: Date | null;
    readonly created_at: Date;
  };
  'app.invitation': {
    readonly id: string;
    readonly org_id: string;
    /** In lower case. */
    readonly email: string;
    readonly role: string;
    readonly message: string | null;
    readonly token_hash: Buffer;
    readonly invited_by: string;
    readonly invited_by_label: string;
    readonly created_at: Date;
    readonly expires_at: Date;
    readonly revoked_at: Date | null;
    readonly accepted_at: Date | null;
    readonly accepted_by: string | null;
    readonly mail_id: string | null;
  };
  'app.link_request': {
    readonly id: string;
    readonly org_id: string;
    readonly user_id: string;
    readonly session_id: string;
    readonly connection_id: string;
    readonly provider: string;
    readonly host: string;
    readonly state_hash: Buffer;
    readonly nonce_hash: Buffer;
    readonly expires_at: Date;
    readonly taken_at: Date | null;
    readonly external_user_id: string | null;
    readonly login: string | null;
    /** To be approved; null: an account is linked. */
    readonly pull_request_id: string | null;
    readonly head_sha: string | null;
  };
  'app.linked_account': {
    readonly id: string;
    readonly org_id: string;
    readonly provider: string;
    readonly host: string;
    readonly external_user_id: string;
    readonly user_id: string;
    readonly login: string;
    readonly linked_at: Date;
  };
  'app.llm_profile': {
    readonly id: string;
    readonly org_id: string;
    readonly name: string;
    readonly model: string;
    readonly base_url: string | null;
    readonly temperature: number | null;
    readonly max_output_tokens: number | null;
    readonly is_default: boolean;
    readonly sealed_api_key: Buffer | null;
    readonly key_version: number | null;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly created_at: Date;
    readonly updated_at: Date;
  };
  'app.mcp_server': {
    readonly id: string;
    readonly org_id: string;
    readonly name: string;
    readonly transport: string;
    readonly enabled: boolean;
    /** What the transport needs, in the contract's form. */
    readonly config: unknown;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly created_at: Date;
    readonly updated_at: Date;
  };
  'app.membership': {
    readonly org_id: string;
    readonly user_id: string;
    readonly role: string;
    readonly created_at: Date;
    /** `founder`, `invitation`, `domain`. */
    readonly source: string;
  };
  'app.message_draft': {
    readonly org_id: string;
    readonly user_id: string;
    /** A conversation's id, or `new-task`. */
    readonly subject: string;
    readonly conversation_id: string | null;
    readonly text: string;
    /** Milliseconds of the clock of its last change, and more than before. */
    readonly version: number;
    readonly updated_at: Date;
  };
  'app.org': {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly kind: string;
    readonly created_at: Date;
    readonly settings: unknown;
    /** Counts changes of the settings: the ETag. */
    readonly settings_version: number;
    /** Set while somebody has asked to delete it; until then it can be taken back. */
    readonly deletes_at: Date | null;
    /** What it asks of its members' sign-ins; null: nothing. */
    readonly session_max_minutes: number | null;
    readonly session_idle_minutes: number | null;
    readonly second_factor: boolean;
    /** Counts changes of these rules: the ETag. */
    readonly security_version: number;
    /** Since when it allows analytics; null: it does not. */
    readonly analytics_since: Date | null;
  };
  'app.org_data_key': {
    readonly org_id: string;
    readonly version: number;
    readonly wrapped: Buffer;
    readonly master_id: string;
    readonly created_at: Date;
  };
  'app.org_domain': {
    readonly org_id: string;
    readonly domain: string;
    /** What the DNS record must say. */
    readonly challenge: string;
    readonly auto_join_role: string | null;
    readonly created_at: Date;
    readonly verified_at: Date | null;
    readonly checked_at: Date | null;
    /** When its record was last seen; null: not since it was verified. */
    readonly confirmed_at: Date | null;
    readonly missing_since: Date | null;
  };
  'app.org_storage': {
    readonly org_id: string;
    /** Sum of the blocks that its conversations have taken. Bytes. */
    readonly used_bytes: number;
    /** Null: the installation's default; 0: none. */
    readonly limit_bytes: number | null;
    readonly warned_percent: number;
    readonly counted_at: Date | null;
    readonly drift_bytes: number;
  };
  'app.outbox': {
    readonly id: string;
    readonly org_id: string;
    readonly queue: string;
    readonly key: string;
    readonly payload: unknown;
    readonly created_at: Date;
    /** Last time it was put into the queue. */
    readonly enqueued_at: Date;
  };
  'app.outgoing_mail': {
    readonly id: string;
    readonly org_id: string;
    readonly recipient: string;
    readonly subject: string;
    /** Sealed; null as soon as it is sent or given up. */
    readonly body: Buffer | null;
    readonly created_at: Date;
    readonly next_try_at: Date;
    readonly attempts: number;
    readonly sent_at: Date | null;
    readonly failed_at: Date | null;
    readonly last_error: string | null;
  };
  'app.outgoing_webhook': {
    readonly id: string;
    readonly org_id: string;
    readonly name: string;
    readonly url: string;
    readonly events: string[];
    readonly state: string;
    readonly state_reason: string | null;
    readonly failing_since: Date | null;
    readonly mailed_at: Date | null;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly created_at: Date;
    readonly updated_at: Date;
  };
  'app.outgoing_webhook_secret': {
    readonly id: string;
    readonly org_id: string;
    readonly webhook_id: string;
    readonly sealed: Buffer;
    readonly key_version: number;
    readonly created_at: Date;
    readonly valid_until: Date | null;
  };
  'app.pack': {
    readonly org_id: string;
    /** Random; the object's name below the organization's prefix. */
    readonly id: string;
    readonly bytes: number;
    readonly live_bytes: number;
    /** Sealed under the organization's data key; null: nothing can read it any more. */
    readonly wrapped_key: Buffer | null;
    readonly key_version: number | null;
    /** Conversation that stored it. */
    readonly stored_by: string;
    /** `live`, `doomed` or `deleting`. */
    readonly state: string;
    readonly created_at: Date;
    readonly doomed_at: Date | null;
  };
  'app.pack_storage': {
    readonly org_id: string;
    readonly used_bytes: number;
    /** Its own; null: by its members. */
    readonly limit_bytes: number | null;
  };
  'app.prompt': {
    readonly id: string;
    readonly org_id: string;
    /** Whose own it is; empty for the organization's. */
    readonly user_id: string;
    readonly name: string;
    readonly description: string;
    readonly text: string;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly created_at: Date;
    readonly updated_by: string;
    readonly updated_by_label: string;
    readonly updated_at: Date;
  };
  'app.provider_token': {
    readonly user_id: string;
    readonly provider: string;
    readonly token: Buffer;
    readonly scopes: string[];
    readonly connected_at: Date;
    readonly refreshed_at: Date;
    readonly expires_at: Date | null;
  };
  'app.pull_request': {
    readonly id: string;
    readonly org_id: string;
    readonly conversation_id: string;
    readonly connection_id: string | null;
    readonly provider: string;
    readonly host: string;
    readonly repository: string;
    readonly number: number | null;
    readonly url: string | null;
    readonly title: string;
    readonly branch: string | null;
    readonly base: string | null;
    readonly head_sha: string | null;
    readonly pushed_sha: string | null;
    readonly pushing_sha: string | null;
    readonly content: string | null;
    readonly state: string;
    readonly draft: boolean;
    readonly checks: unknown;
    readonly check_list: unknown;
    readonly review: string;
    readonly conflicts: boolean | null;
    readonly wanted: unknown;
    readonly wanted_version: number;
    readonly done_version: number;
    readonly publish: string;
    readonly merge_wanted: unknown;
    readonly merge: string | null;
    readonly problem: unknown;
    readonly replies: unknown;
    /** {what, checks, message, automatic, by, at} of a message to the agent that is not sent yet. */
    readonly fix_wanted: unknown;
    /** {what, message, automatic, by, at, sha} of the last that was. */
    readonly fix: unknown;
    readonly fix_rounds: number;
    readonly fix_stopped: string | null;
    readonly told: unknown;
    readonly created_at: Date;
    readonly updated_at: Date;
    readonly published_at: Date | null;
    readonly refreshed_at: Date | null;
  };
  'app.pull_request_outcome': {
    readonly id: string;
    readonly org_id: string;
    readonly provider: string;
    readonly host: string;
    readonly repository: string;
    readonly number: number;
    readonly connection_id: string | null;
    /** The first that published it. */
    readonly conversation_id: string;
    readonly begun_at: Date;
    readonly base: string | null;
    readonly pushed_shas: string[];
    readonly state: string;
    readonly ready_at: Date | null;
    readonly first_review_at: Date | null;
    readonly merged_at: Date | null;
    readonly closed_at: Date | null;
    readonly merge_sha: string | null;
    readonly human_commits: number | null;
    readonly watched_days: number;
    readonly reverted_at: Date | null;
    readonly edited_at: Date | null;
    readonly edits_read: boolean;
    readonly reverts_read: boolean;
    readonly next_at: Date | null;
    readonly attempts: number;
    readonly problem: string | null;
    readonly seen_at: Date | null;
  };
  'app.pull_request_work': {
    readonly org_id: string;
    readonly pull_request_id: string;
    readonly conversation_id: string;
  };
  'app.read_mark': {
    readonly conversation_id: string;
    readonly user_id: string;
    readonly org_id: string;
    readonly seq: number;
    readonly seq_at: Date | null;
    readonly tree_hash: string | null;
    readonly done_key: string | null;
    readonly snoozed_until: Date | null;
    readonly muted: boolean;
  };
  'app.repository_grant': {
    readonly org_id: string;
    readonly conversation_id: string;
    readonly connection_id: string;
    readonly full_name: string;
    readonly created_at: Date;
  };
  'app.review_comment': {
    readonly id: string;
    readonly org_id: string;
    readonly conversation_id: string;
    readonly thread_id: string;
    readonly text: string;
    readonly suggestion: string | null;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly created_at: Date;
    /** The message that took it to the agent; null: not sent yet. */
    readonly message_id: string | null;
  };
  'app.review_thread': {
    readonly id: string;
    readonly org_id: string;
    readonly conversation_id: string;
    /** By which the agent answers, from 1. */
    readonly number: number;
    readonly anchor: unknown;
    readonly created_at: Date;
    readonly resolved_at: Date | null;
    readonly resolved_by_label: string | null;
  };
  'app.review_viewed': {
    readonly org_id: string;
    readonly conversation_id: string;
    readonly user_id: string;
    /** SHA-256 of the path. */
    readonly path_hash: Buffer;
    readonly path: string;
    readonly hash: string;
  };
  'app.sandbox_grant': {
    readonly id: string;
    readonly org_id: string;
    readonly user_id: string;
    /** The sign-in that it was made with: it ends with that. */
    readonly session_id: string | null;
    /** The API key that it was made with: it ends with that. */
    readonly api_key_id: string | null;
    readonly conversation_id: string;
    readonly port: number;
    /** SHA-256 of the ticket; null as soon as a browser has exchanged it. */
    readonly ticket_hash: Buffer | null;
    readonly ticket_expires_at: Date;
    readonly created_at: Date;
    readonly expires_at: Date;
    readonly revoked_at: Date | null;
    /** When somebody last worked through it, to a minute: sandbox-gateway writes it, the idle sweep reads it. */
    readonly used_at: Date | null;
  };
  'app.sandbox_steering': {
    readonly conversation_id: string;
    readonly user_id: string;
    readonly org_id: string;
    readonly until: Date;
  };
  'app.secret': {
    readonly id: string;
    readonly org_id: string;
    readonly name: string;
    /** `variable` or `git`. */
    readonly kind: string;
    /** `org`, `environment`, `repository`, `person` or `conversation`. */
    readonly scope: string;
    readonly scope_value: string;
    readonly host: string | null;
    readonly username: string | null;
    readonly description: string;
    readonly sealed: Buffer;
    readonly key_version: number;
    readonly masked: boolean;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly created_at: Date;
    readonly updated_by: string;
    readonly updated_by_label: string;
    readonly updated_at: Date;
    readonly last_used_at: Date | null;
  };
  'app.service_account': {
    readonly id: string;
    readonly org_id: string;
    readonly name: string;
    readonly role: string;
    readonly created_by: string;
    readonly created_by_label: string;
    readonly created_at: Date;
    /** Its keys are revoked in the same transaction; the row stays as the name of what it did. */
    readonly deleted_at: Date | null;
  };
  'app.session': {
    readonly id: string;
    readonly user_id: string;
    readonly tokens: Buffer;
    readonly access_expires_at: Date;
    readonly created_at: Date;
    readonly expires_at: Date;
    readonly user_agent: string | null;
    readonly address: string | null;
    readonly last_seen_at: Date | null;
    /** The issuer's name for its own session (`sid`). */
    readonly issuer_session: string | null;
    /** When the person last proved themself to the issuer; null: when the session began. */
    readonly authenticated_at: Date | null;
    readonly second_factor: boolean;
    readonly longest_idle_seconds: number;
    /** Its browser asks not to be tracked. */
    readonly refuses_tracking: boolean;
  };
  'app.storage_default': {
    readonly id: boolean;
    readonly limit_bytes: number;
    readonly changed_at: Date;
  };
  'app.sweep_run': {
    readonly name: string;
    readonly completed_at: Date;
  };
  'app.thread_answer': {
    readonly id: string;
    readonly org_id: string;
    readonly connection_id: string;
    readonly thread_key: string;
    readonly kind: string;
    readonly subject: string;
    readonly conversation_id: string | null;
    readonly place: unknown;
    readonly detail: unknown;
    readonly marker: string;
    readonly state: string;
    readonly external_id: string | null;
    readonly url: string | null;
    readonly shown: string | null;
    readonly edited_at: Date | null;
    readonly tried_at: Date | null;
    readonly busy_until: Date | null;
    readonly turn: number;
    readonly attempts: number;
    readonly failing_since: Date | null;
    readonly retry_at: Date | null;
    readonly problem: string | null;
    readonly effect_of: string | null;
    readonly revision: number;
    readonly created_at: Date;
    readonly updated_at: Date;
  };
  'app.trace_export': {
    readonly conversation_id: string;
    readonly org_id: string;
    /** Turns that ended up to this position of the log. */
    readonly upto: number;
    readonly updated_at: Date;
  };
  'app.usage_conversation': {
    readonly org_id: string;
    readonly day: Date;
    readonly user_id: string;
    readonly repository: string;
    readonly model: string;
    readonly conversation_id: string;
    readonly user_label: string;
    readonly requests: number;
    readonly failed: number;
    readonly prompt_tokens: number;
    readonly cached_tokens: number;
    readonly completion_tokens: number;
    readonly cost_usd: string;
    readonly unpriced: number;
  };
  'app.usage_cursor': {
    readonly source: string;
    readonly position: number;
    readonly read_at: Date | null;
  };
  'app.usage_day': {
    readonly org_id: string;
    readonly day: Date;
    readonly user_id: string;
    readonly repository: string;
    readonly model: string;
    readonly user_label: string;
    readonly requests: number;
    readonly failed: number;
    readonly prompt_tokens: number;
    readonly cached_tokens: number;
    readonly completion_tokens: number;
    readonly cost_usd: string;
    readonly unpriced: number;
  };
  'app.user_account': {
    readonly id: string;
    readonly issuer: string;
    readonly subject: string;
    readonly name: string;
    readonly email: string | null;
    readonly created_at: Date;
    readonly email_verified: boolean;
    readonly settings: unknown;
    readonly settings_version: number;
    readonly terms_version: string | null;
    readonly terms_accepted_at: Date | null;
    readonly last_active_at: Date | null;
    readonly deactivated_at: Date | null;
    /** Since when the user allows analytics; null: they do not. */
    readonly analytics_since: Date | null;
  };
  'app.webhook_message': {
    readonly id: string;
    readonly org_id: string;
    readonly webhook_id: string;
    readonly event: string;
    readonly conversation_id: string | null;
    readonly body: string;
    readonly state: string;
    readonly attempts: number;
    readonly next_at: Date;
    readonly last_at: Date | null;
    readonly last_status: number | null;
    readonly last_answer: string | null;
    readonly problem: string | null;
    readonly created_at: Date;
  };
  'app.workspace_snapshot': {
    readonly conversation_id: string;
    readonly org_id: string;
    readonly changes: unknown;
    readonly patch: string;
    readonly taken_at: Date;
  };
  'gateway.budget': {
    readonly org_id: string;
    readonly kind: string;
    readonly subject: string;
    readonly limit_usd: string | null;
    readonly period: string;
    readonly reset_day: number;
    readonly seconds: number | null;
    readonly anchor: Date;
  };
  'gateway.budget_account': {
    readonly id: number;
    readonly org_id: string;
    readonly kind: string;
    readonly subject: string;
    readonly cycle_start: Date;
    readonly cycle_end: Date;
    readonly spent: number;
    readonly recalls: number;
    readonly freed: number;
  };
  'gateway.budget_lease': {
    readonly account: number;
    readonly replica: string;
    readonly org_id: string;
    readonly held: number;
    readonly loose: boolean;
    readonly answered: number;
  };
  'gateway.budget_replica': {
    readonly id: string;
    readonly beat_at: Date;
    readonly turn: number;
    readonly answer: unknown;
  };
  'gateway.budget_stop': {
    readonly org_id: string;
    readonly user_id: string;
    readonly reason: string;
    readonly until: Date;
  };
  'gateway.charge_pass': {
    /** SHA-256 of the pass. */
    readonly hash: Buffer;
    readonly org_id: string;
    readonly conversation_id: string;
    readonly user_id: string;
    readonly user_label: string;
    readonly expires_at: Date;
    readonly calls_left: number;
  };
  'gateway.ledger': {
    readonly id: string;
    readonly org_id: string;
    readonly conversation_id: string;
    readonly key_id: string;
    readonly user_id: string | null;
    readonly request_id: string;
    readonly trace_id: string;
    readonly model: string;
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly cached_tokens: number;
    readonly usage_source: string;
    readonly cost_usd: string;
    readonly cost_known: boolean;
    readonly status: string;
    readonly error_code: string | null;
    readonly streamed: boolean;
    readonly started_at: Date;
    readonly first_byte_ms: number | null;
    readonly latency_ms: number;
    readonly stored_at: Date;
    /** In which it is read on; see gateway.share_ledger. */
    readonly position: number;
    readonly repository: string | null;
    readonly pull_request: string | null;
    readonly integration: string | null;
    readonly purpose: string;
    readonly deployment: string | null;
    readonly attempts: number;
    readonly cache_write_tokens: number;
    readonly reasoning_tokens: number;
    readonly from_cache: boolean;
    readonly holder: string | null;
    readonly accounts: number[];
  };
  'gateway.open_call': {
    readonly id: string;
    readonly org_id: string;
    /** A life of a gateway's process. */
    readonly replica: string;
    readonly recorded_at: Date;
    /** Its row of the ledger if nobody hears of its end. */
    readonly entry: unknown;
  };
  'gateway.person': {
    readonly org_id: string;
    readonly user_id: string;
    readonly alias: string | null;
    readonly email: string | null;
    readonly metadata: unknown;
    readonly created_at: Date;
  };
  'gateway.prompt_entry': {
    readonly id: string;
    readonly org_id: string;
    readonly conversation_id: string;
    readonly user_id: string | null;
    readonly request_id: string;
    readonly model: string;
    readonly outcome: string;
    readonly at: Date;
    readonly asked: string;
    readonly answered: string;
  };
  'gateway.prompt_policy': {
    readonly org_id: string;
    readonly days: number;
  };
  'gateway.rate_bucket': {
    readonly org_id: string;
    readonly name: string;
    readonly level: number;
    readonly at: Date;
  };
  'gateway.rate_limit': {
    readonly org_id: string;
    readonly kind: string;
    readonly subject: string;
    readonly rpm: number | null;
    readonly tpm: number | null;
  };
  'gateway.spending_rule': {
    readonly org_id: string;
    readonly allow_unpriced: boolean;
  };
  'gateway.team': {
    readonly org_id: string;
    readonly alias: string | null;
    readonly models: string[];
    readonly metadata: unknown;
    readonly blocked: boolean;
    readonly created_at: Date;
  };
  'gateway.virtual_key': {
    readonly id: string;
    readonly org_id: string;
    readonly conversation_id: string;
    readonly user_id: string | null;
    readonly alias: string | null;
    readonly models: string[];
    readonly hash: Buffer;
    readonly created_at: Date;
    readonly expires_at: Date;
    readonly revoked_at: Date | null;
    readonly metadata: unknown;
    readonly blocked: boolean;
    /** Keys of providers that are the caller's own, sealed under the key itself. */
    readonly sealed_providers: Buffer | null;
  };
  'runtime.arrival': {
    readonly pool_id: string;
    readonly at: Date;
    readonly count: number;
  };
  'runtime.claim': {
    readonly claim_id: string;
    readonly org_id: string;
    readonly session_id: string;
    readonly request_hash: string;
    readonly slot_id: string;
    readonly epoch: number;
    readonly cost: number;
    readonly state: string;
    readonly deadline: Date;
    readonly restart_count: number;
    readonly restart_reasons: string[];
    readonly restorer: string | null;
    readonly created_at: Date;
    readonly ended_at: Date | null;
  };
  'runtime.fair_share': {
    readonly pool_id: string;
    readonly org_id: string;
    readonly deficit: number;
    readonly turn: number;
  };
  'runtime.lead_run': {
    readonly name: string;
    readonly completed_at: Date;
  };
  'runtime.org_usage': {
    readonly org_id: string;
    readonly in_use: number;
    readonly cap: number | null;
    readonly weight: number;
    readonly workspace_limit_bytes: number | null;
  };
  'runtime.pool': {
    readonly pool_id: string;
    readonly image: string;
    readonly template: string;
    readonly target: number;
    readonly max_age_seconds: number;
    readonly changed_at: Date;
    readonly problem_code: string | null;
    readonly problem_detail: string | null;
    readonly problem_at: Date | null;
    readonly lead_seconds: number | null;
    readonly forecast: unknown;
  };
  'runtime.replica': {
    readonly replica_id: string;
    readonly seen_at: Date;
  };
  'runtime.sandbox_note': {
    readonly slot_id: string;
    readonly org_id: string;
    readonly session_id: string;
    readonly claim_id: string;
    readonly pod_name: string;
    readonly pod_uid: string;
    readonly attempts: number;
    readonly next_at: Date;
  };
  'runtime.session': {
    readonly org_id: string;
    readonly session_id: string;
    readonly runtime_id: string;
    readonly claim_id: string;
    readonly request_hash: string;
    readonly status: string;
    readonly status_detail: string | null;
    readonly api_key: Buffer;
    readonly environment: Buffer;
    readonly workspace_ref: string | null;
    readonly workspace_bytes: number | null;
    readonly pool_id: string | null;
    readonly url: string;
    readonly working_dir: string;
    readonly lost_count: number;
    readonly lost_reasons: string[];
    readonly created_at: Date;
    readonly changed_at: Date;
  };
  'runtime.slot': {
    readonly slot_id: string;
    readonly pool_id: string;
    readonly template: string;
    readonly pod_name: string;
    readonly pod_uid: string | null;
    readonly address: string | null;
    readonly state: string;
    readonly epoch: number;
    readonly holder: string | null;
    readonly lease_until: Date | null;
    readonly claim_id: string | null;
    readonly reason: string | null;
    readonly created_at: Date;
    readonly warmed_at: Date | null;
    readonly checked_at: Date | null;
    readonly changed_at: Date;
    readonly workspace_kept_at: Date | null;
    readonly workspace_failing_since: Date | null;
    readonly workspace_problem: string | null;
    readonly workspace_lost: boolean;
  };
  'runtime.waiting': {
    readonly org_id: string;
    readonly session_id: string;
    readonly pool_id: string;
    readonly claim_id: string;
    readonly runtime_id: string;
    readonly request_hash: string | null;
    readonly api_key: Buffer;
    readonly environment: Buffer;
    readonly cost: number;
    readonly lane: string;
    readonly default_cap: number;
    readonly arrival: number;
    readonly enqueued_at: Date;
    readonly seen_at: Date;
  };
}
