{{/* Environments, one list an app, as docs/configuration.md has them. A secret is always a reference, never a value. */}}

{{/* (dict "name" VARIABLE "secret" NAME "key" KEY) */}}
{{- define "slipway.fromSecret" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef: { name: {{ .secret | quote }}, key: {{ .key | quote }} }
{{- end -}}

{{/* One of the platform's own: (dict "root" $ "name" VARIABLE "key" a key of secrets.keys) */}}
{{- define "slipway.ownVariable" -}}
{{- $secrets := .root.Values.secrets -}}
{{- include "slipway.fromSecret" (dict "name" .name "secret" (default (include "slipway.ownSecret" .root) $secrets.existingSecret) "key" (index $secrets.keys .key)) -}}
{{- end -}}

{{/* (dict "root" $ "role" "app" | "runtime" | "gateway" | "sandbox" | "owner" "name" VARIABLE) */}}
{{- define "slipway.databaseUrl" -}}
{{- $p := .root.Values.postgresql -}}
{{- if $p.existingSecret -}}
{{- include "slipway.fromSecret" (dict "name" .name "secret" $p.existingSecret "key" (index $p.keys .role)) -}}
{{- else -}}
{{- $password := printf "%s_PASSWORD" (trimSuffix "_URL" .name) -}}
{{- if eq .role "owner" -}}
{{- include "slipway.fromSecret" (dict "name" $password "secret" $p.owner.existingSecret "key" $p.owner.passwordKey) }}
{{- else -}}
{{- include "slipway.fromSecret" (dict "name" $password "secret" (default (include "slipway.ownSecret" .root) $p.roles.existingSecret) "key" (index $p.roles.keys .role)) }}
{{- end }}
- name: {{ .name }}
  value: {{ printf "postgresql://%s:$(%s)@%s:%v/%s?sslmode=%s" (ternary $p.owner.username (printf "slipway_%s" .role) (eq .role "owner")) $password $p.host $p.port $p.database $p.sslMode | quote }}
{{- end -}}
{{- end -}}

{{/* Nothing when there is no Redis. */}}
{{- define "slipway.redis" -}}
{{- $r := .Values.redis -}}
{{- $scheme := ternary "rediss" "redis" $r.tls -}}
{{- if $r.existingSecret }}
{{ include "slipway.fromSecret" (dict "name" "REDIS_URL" "secret" $r.existingSecret "key" $r.urlKey) }}
{{- else if $r.host }}
{{- if $r.auth.existingSecret }}
{{ include "slipway.fromSecret" (dict "name" "REDIS_PASSWORD" "secret" $r.auth.existingSecret "key" $r.auth.passwordKey) }}
- name: REDIS_URL
  value: {{ printf "%s://%s:$(REDIS_PASSWORD)@%s:%v/%v" $scheme $r.username $r.host $r.port $r.database | quote }}
{{- else }}
- name: REDIS_URL
  value: {{ printf "%s://%s:%v/%v" $scheme $r.host $r.port $r.database | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Of every process, jobs too. */}}
{{- define "slipway.env.base" -}}
- { name: NODE_ENV, value: production }
- { name: LOG_LEVEL, value: {{ .Values.logLevel | quote }} }
- { name: LOG_JSON_LEVEL_KEY, value: {{ .Values.logLevelKey | quote }} }
{{- if .Values.privateCa.configMap }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/slipway/ca/ca.crt }
{{- end }}
{{- with .Values.proxy }}
{{- if .http }}
- { name: HTTP_PROXY, value: {{ .http | quote }} }
{{- end }}
{{- if .https }}
- { name: HTTPS_PROXY, value: {{ .https | quote }} }
{{- end }}
{{- if or .http .https }}
# Every fetch, and Node's own agents. What goes to databases, Redis, mail and the cluster's API does not.
- { name: NODE_USE_ENV_PROXY, value: "1" }
- name: NO_PROXY
  value: {{ join "," (concat (list "localhost" "127.0.0.1" ".svc" (printf ".%s" $.Values.clusterDomain)) .noProxy) | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The key that seals, and while it is being changed the one that is to come or that was. */}}
{{- define "slipway.encryption" -}}
{{ include "slipway.ownVariable" (dict "root" . "name" "ENCRYPTION_KEY" "key" "encryption") }}
{{- with .Values.secrets.previousEncryptionKey }}
{{- if .existingSecret }}
{{ include "slipway.fromSecret" (dict "name" "ENCRYPTION_KEY_PREVIOUS" "secret" .existingSecret "key" .key) }}
{{- end }}
{{- end }}
{{- end -}}

{{/* What the platform's own apps at providers call by. */}}
{{- define "slipway.integrationApps" -}}
{{- with .Values.integrations }}
{{- if and .existingSecret .appsKey }}
{{ include "slipway.fromSecret" (dict "name" "INTEGRATION_APPS" "secret" .existingSecret "key" .appsKey) }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "slipway.env.appServer" -}}
{{- $root := . -}}
- { name: PUBLIC_URL, value: {{ .Values.publicUrl | trimSuffix "/" | quote }} }
{{ include "slipway.databaseUrl" (dict "root" . "role" "app" "name" "DATABASE_URL") }}
{{- include "slipway.redis" . }}
- { name: OIDC_ISSUER_URL, value: {{ .Values.oidc.issuerUrl | quote }} }
- { name: OIDC_CLIENT_ID, value: {{ .Values.oidc.clientId | quote }} }
{{ include "slipway.fromSecret" (dict "name" "OIDC_CLIENT_SECRET" "secret" .Values.oidc.existingSecret "key" .Values.oidc.clientSecretKey) }}
- { name: OIDC_BROKERS, value: {{ join "," .Values.oidc.brokers | quote }} }
- { name: OIDC_SECOND_FACTOR_ACR, value: {{ join "," .Values.oidc.secondFactorAcr | quote }} }
- { name: REQUIRE_VERIFIED_EMAIL, value: {{ .Values.oidc.requireVerifiedEmail | quote }} }
{{- with .Values.terms }}
{{- if .url }}
- { name: TERMS_URL, value: {{ .url | quote }} }
{{- end }}
{{- if .version }}
- { name: TERMS_VERSION, value: {{ .version | quote }} }
{{- end }}
{{- end }}
{{- with .Values.mail }}
{{- if .existingSecret }}
{{ include "slipway.fromSecret" (dict "name" "SMTP_URL" "secret" .existingSecret "key" .urlKey) }}
{{- end }}
- { name: MAIL_FROM, value: {{ .from | quote }} }
{{- end }}
{{- with .Values.integrations }}
{{- if .existingSecret }}
{{ include "slipway.fromSecret" (dict "name" "INTEGRATION_APP_SECRETS" "secret" .existingSecret "key" .appSecretsKey) }}
{{- end }}
{{- end }}
{{ include "slipway.integrationApps" . }}
{{- include "slipway.analytics" . }}
- { name: FLAGS, value: {{ toJson .Values.observability.flags.values | quote }} }
- { name: TRUSTED_PROXIES, value: {{ join "," .Values.appServer.trustedProxies | quote }} }
{{- with .Values.appServer.rateLimits }}
- { name: RATE_READS_PER_MINUTE, value: {{ int64 .readsPerMinute | quote }} }
- { name: RATE_WRITES_PER_MINUTE, value: {{ int64 .writesPerMinute | quote }} }
- { name: RATE_STARTS_PER_MINUTE, value: {{ int64 .startsPerMinute | quote }} }
- { name: RATE_ORG_MULTIPLE, value: {{ int64 .organizationMultiple | quote }} }
- { name: RATE_ANONYMOUS_PER_MINUTE, value: {{ int64 .anonymousPerMinute | quote }} }
- { name: RATE_DELIVERIES_PER_MINUTE, value: {{ int64 .deliveriesPerMinute | quote }} }
{{- end }}
{{ include "slipway.ownVariable" (dict "root" . "name" "SESSION_SECRET" "key" "session") }}
{{ include "slipway.encryption" . }}
{{ include "slipway.ownVariable" (dict "root" . "name" "INGEST_SECRET" "key" "ingest") }}
- { name: WEB_URL, value: {{ include "slipway.url" (dict "root" . "app" "web") | quote }} }
- { name: RUNTIME_API_URL, value: {{ include "slipway.url" (dict "root" . "app" "runtimeApi") | quote }} }
{{ include "slipway.ownVariable" (dict "root" . "name" "RUNTIME_API_KEY" "key" "runtimeApi") }}
- { name: LLM_GATEWAY_URL, value: {{ include "slipway.url" (dict "root" . "app" "llmGateway") | quote }} }
{{ include "slipway.ownVariable" (dict "root" . "name" "LLM_GATEWAY_MASTER_KEY" "key" "llmGateway") }}
{{ include "slipway.env.sandboxAccess" . }}
{{- if include "slipway.egressProxied" . }}
- { name: INTERNAL_PORT, value: "3008" }
- { name: EGRESS_PORTS, value: {{ join "," .Values.egress.ports | quote }} }
- { name: EGRESS_ORG_HOSTS, value: {{ join "," .Values.egress.orgHosts | quote }} }
- { name: EGRESS_NEVER_HOSTS, value: {{ join "," .Values.egress.neverHosts | quote }} }
{{ include "slipway.ownVariable" (dict "root" . "name" "EGRESS_CONTROL_SECRET" "key" "egressControl") }}
{{- end }}
{{- if include "slipway.brokered" . }}
{{ include "slipway.ownVariable" (dict "root" . "name" "CREDENTIAL_CONTROL_SECRET" "key" "credentialControl") }}
{{- end }}
{{- end -}}

{{- define "slipway.env.worker" -}}
- { name: PUBLIC_URL, value: {{ .Values.publicUrl | trimSuffix "/" | quote }} }
{{ include "slipway.databaseUrl" (dict "root" . "role" "app" "name" "DATABASE_URL") }}
{{- include "slipway.redis" . }}
{{ include "slipway.encryption" . }}
{{ include "slipway.ownVariable" (dict "root" . "name" "INGEST_SECRET" "key" "ingest") }}
- { name: RUNTIME_API_URL, value: {{ include "slipway.url" (dict "root" . "app" "runtimeApi") | quote }} }
{{ include "slipway.ownVariable" (dict "root" . "name" "RUNTIME_API_KEY" "key" "runtimeApi") }}
- { name: LLM_GATEWAY_URL, value: {{ include "slipway.url" (dict "root" . "app" "llmGateway") | quote }} }
{{ include "slipway.ownVariable" (dict "root" . "name" "LLM_GATEWAY_MASTER_KEY" "key" "llmGateway") }}
- { name: SANDBOX_INGEST_URL, value: {{ include "slipway.url" (dict "root" . "app" "appServer") | quote }} }
- { name: SANDBOX_LLM_URL, value: {{ include "slipway.url" (dict "root" . "app" "llmGateway") | quote }} }
- { name: CLONE_TIMEOUT_SECONDS, value: {{ .Values.worker.cloneTimeoutSeconds | quote }} }
- { name: SETUP_SCRIPT_TIMEOUT_SECONDS, value: {{ .Values.worker.setupScriptTimeoutSeconds | quote }} }
- { name: SANDBOX_IDLE_TIMEOUT_SECONDS, value: {{ int .Values.worker.sandboxIdleTimeoutSeconds | quote }} }
- { name: MAX_ITERATIONS, value: {{ int .Values.worker.maxIterations | quote }} }
- { name: STORAGE_LIMIT_MIB, value: {{ int .Values.worker.storageLimitMiB | quote }} }
- { name: CHECKPOINT_GIB_PER_MEMBER, value: {{ int .Values.worker.checkpointGiBPerMember | quote }} }
{{ include "slipway.integrationApps" . }}
{{- with .Values.observability.otlp }}
{{- if .endpoint }}
- { name: OTEL_EXPORTER_OTLP_ENDPOINT, value: {{ .endpoint | quote }} }
{{- if .existingSecret }}
{{ include "slipway.fromSecret" (dict "name" "OTEL_EXPORTER_OTLP_HEADERS" "secret" .existingSecret "key" .headersKey) }}
{{- end }}
{{- end }}
{{- end }}
{{- include "slipway.analytics" . }}
{{- with .Values.observability.posthog }}
{{- if .host }}
{{ include "slipway.fromSecret" (dict "name" "POSTHOG_KEY" "secret" .existingSecret "key" .keyKey) }}
- { name: ANALYTICS_MODEL_CALLS, value: {{ .modelCalls | quote }} }
{{- if eq $.Values.observability.flags.provider "posthog" }}
{{ include "slipway.fromSecret" (dict "name" "POSTHOG_FLAGS_KEY" "secret" .existingSecret "key" .flagsKeyKey) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* Analytics and flags, as app-server and worker both have them. */}}
{{- define "slipway.analytics" }}
- { name: FLAGS_PROVIDER, value: {{ .Values.observability.flags.provider | quote }} }
{{- with .Values.observability.posthog }}
- { name: DO_NOT_TRACK, value: {{ .doNotTrack | quote }} }
{{- if .host }}
- { name: POSTHOG_HOST, value: {{ .host | quote }} }
{{ include "slipway.fromSecret" (dict "name" "ANALYTICS_SECRET" "secret" .existingSecret "key" .secretKey) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "slipway.env.runtimeApi" -}}
{{ include "slipway.databaseUrl" (dict "root" . "role" "runtime" "name" "DATABASE_URL") }}
{{ include "slipway.ownVariable" (dict "root" . "name" "RUNTIME_API_KEY" "key" "runtimeApi") }}
{{ include "slipway.encryption" . }}
{{ include "slipway.ownVariable" (dict "root" . "name" "ACTIVATION_PRIVATE_KEY" "key" "activation") }}
- { name: SANDBOX_BACKEND, value: kubernetes }
- { name: SANDBOX_NAMESPACE, value: {{ .Values.sandboxes.namespace | quote }} }
- { name: SANDBOX_TEMPLATES, value: /etc/slipway/templates/templates.yaml }
- { name: SANDBOX_DNS, value: {{ .Values.sandboxes.dns | quote }} }
- name: SANDBOX_HOSTS
  value: {{ printf "%s,%s" (include "slipway.host" (dict "root" . "app" "appServer")) (include "slipway.host" (dict "root" . "app" "llmGateway")) | quote }}
- { name: ORG_SANDBOX_LIMIT, value: {{ int .Values.runtimeApi.orgSandboxLimit | quote }} }
- { name: WORKSPACE_LIMIT_GIB, value: {{ int .Values.runtimeApi.workspaceLimitGiB | quote }} }
- { name: SANDBOX_MAX_AGE_SECONDS, value: {{ int .Values.runtimeApi.sandboxMaxAgeSeconds | quote }} }
{{- if .Values.runtimeApi.sandboxIdleSeconds }}
- { name: SANDBOX_IDLE_SECONDS, value: {{ int64 .Values.runtimeApi.sandboxIdleSeconds | quote }} }
{{- end }}
- name: REPLICA_ID
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
{{ include "slipway.env.workspaceStore" . }}
{{- if include "slipway.egressProxied" . }}
- { name: EGRESS_PROXY_URL, value: {{ printf "http://%s-egress-proxy.%s.svc.%s:3128" (include "slipway.fullname" .) .Release.Namespace .Values.clusterDomain | quote }} }
{{ include "slipway.ownVariable" (dict "root" . "name" "EGRESS_SECRET" "key" "egress") }}
- { name: EGRESS_NO_PROXY, value: {{ join "," (prepend .Values.egress.direct (printf ".%s" .Values.clusterDomain)) | quote }} }
{{- end }}
{{- if include "slipway.brokered" . }}
- { name: EGRESS_CA_FILE, value: /etc/slipway/egress-ca/ca.crt }
{{- end }}
{{- end -}}

{{- define "slipway.env.egressProxy" -}}
{{ include "slipway.ownVariable" (dict "root" . "name" "EGRESS_SECRET" "key" "egress") }}
- { name: EGRESS_CONTROL_URL, value: {{ printf "http://%s:3008" (include "slipway.host" (dict "root" . "app" "appServer")) | quote }} }
{{ include "slipway.ownVariable" (dict "root" . "name" "EGRESS_CONTROL_SECRET" "key" "egressControl") }}
{{- if include "slipway.brokered" . }}
- { name: BROKER_URL, value: {{ printf "tcp://%s:3011" (include "slipway.host" (dict "root" . "app" "credentialBroker")) | quote }} }
{{ include "slipway.ownVariable" (dict "root" . "name" "BROKER_SECRET" "key" "broker") }}
{{- end }}
- { name: EGRESS_PORT, value: "3128" }
- { name: EGRESS_RULES, value: /etc/slipway/egress/rules.json }
- { name: EGRESS_CLUSTER_RANGES, value: {{ join "," (concat .Values.sandboxes.network.clusterRanges.ipv4 .Values.sandboxes.network.clusterRanges.ipv6) | quote }} }
{{- with .Values.egress }}
- { name: EGRESS_PORTS, value: {{ join "," .ports | quote }} }
- { name: EGRESS_ORG_HOSTS, value: {{ join "," .orgHosts | quote }} }
- { name: EGRESS_NEVER_HOSTS, value: {{ join "," .neverHosts | quote }} }
- { name: EGRESS_HOLD_SECONDS, value: {{ int .holdSeconds | quote }} }
- { name: EGRESS_TLS_PORTS, value: {{ join "," .tlsPorts | quote }} }
- { name: EGRESS_PERMITTED_RANGES, value: {{ join "," .permittedRanges | quote }} }
- { name: EGRESS_BIND_SOURCE, value: {{ .bindSource | quote }} }
- { name: EGRESS_CONNECTIONS_PER_SANDBOX, value: {{ int .connectionsPerSandbox | quote }} }
- { name: EGRESS_REQUESTS_PER_SECOND, value: {{ int .requestsPerSecond | quote }} }
- { name: EGRESS_DNS_SERVERS, value: {{ join "," .dnsServers | quote }} }
- { name: EGRESS_MAX_CONNECTIONS, value: {{ int64 .maxConnections | quote }} }
- { name: EGRESS_IDLE_SECONDS, value: {{ int64 .idleSeconds | quote }} }
- { name: EGRESS_MAX_SECONDS, value: {{ int64 .maxSeconds | quote }} }
- { name: EGRESS_MAX_BYTES, value: {{ int64 .maxBytes | quote }} }
{{- end }}
{{- end -}}

{{- define "slipway.env.credentialBroker" -}}
- { name: BROKER_PORT, value: "3011" }
{{ include "slipway.ownVariable" (dict "root" . "name" "BROKER_SECRET" "key" "broker") }}
- { name: CREDENTIAL_CONTROL_URL, value: {{ printf "http://%s:3008" (include "slipway.host" (dict "root" . "app" "appServer")) | quote }} }
{{ include "slipway.ownVariable" (dict "root" . "name" "CREDENTIAL_CONTROL_SECRET" "key" "credentialControl") }}
- { name: BROKER_CA_FILE, value: /etc/slipway/broker-ca/tls.crt }
- { name: BROKER_CA_KEY_FILE, value: /etc/slipway/broker-ca/tls.key }
- { name: BROKER_CLUSTER_RANGES, value: {{ join "," (concat .Values.sandboxes.network.clusterRanges.ipv4 .Values.sandboxes.network.clusterRanges.ipv6) | quote }} }
- { name: BROKER_PERMITTED_RANGES, value: {{ join "," .Values.egress.permittedRanges | quote }} }
- { name: BROKER_DNS_SERVERS, value: {{ join "," .Values.egress.dnsServers | quote }} }
- { name: BROKER_HOLD_SECONDS, value: {{ int .Values.egress.holdSeconds | quote }} }
{{- with .Values.credentialBroker }}
- { name: BROKER_MAX_CONNECTIONS, value: {{ int64 .maxConnections | quote }} }
- { name: BROKER_CONNECTIONS_PER_SANDBOX, value: {{ int .connectionsPerSandbox | quote }} }
- { name: BROKER_IDLE_SECONDS, value: {{ int64 .idleSeconds | quote }} }
- { name: BROKER_MAX_BODY_BYTES, value: {{ int64 .maxBodyBytes | quote }} }
{{- end }}
{{- end -}}

{{- define "slipway.env.workspaceStore" -}}
{{- $store := .Values.sandboxes.workspaceStore -}}
- { name: WORKSPACE_STORE, value: {{ ternary "file:///var/lib/slipway/workspaces" $store.url $store.volume.enabled | quote }} }
{{- if and $store.existingSecret (not $store.volume.enabled) }}
{{ include "slipway.fromSecret" (dict "name" "AWS_ACCESS_KEY_ID" "secret" $store.existingSecret "key" $store.accessKeyIdKey) }}
{{ include "slipway.fromSecret" (dict "name" "AWS_SECRET_ACCESS_KEY" "secret" $store.existingSecret "key" $store.secretAccessKeyKey) }}
{{- end }}
{{- end -}}

{{- define "slipway.env.llmGateway" -}}
{{ include "slipway.databaseUrl" (dict "root" . "role" "gateway" "name" "DATABASE_URL") }}
{{ include "slipway.ownVariable" (dict "root" . "name" "LLM_GATEWAY_MASTER_KEY" "key" "llmGateway") }}
- { name: DATA_DIR, value: /var/lib/slipway/spool }
{{- with .Values.llm }}
{{- if .model }}
- { name: LLM_MODEL, value: {{ .model | quote }} }
{{- end }}
{{- if .baseUrl }}
- { name: LLM_BASE_URL, value: {{ .baseUrl | quote }} }
{{- end }}
{{- if .existingSecret }}
{{ include "slipway.fromSecret" (dict "name" "LLM_API_KEY" "secret" .existingSecret "key" .apiKeyKey) }}
{{- end }}
{{- if .models }}
- { name: LLM_MODELS_FILE, value: /etc/slipway/models/models.json }
{{- end }}
{{- $keys := .modelKeys }}
{{- range $variable, $key := $keys.variables }}
{{ include "slipway.fromSecret" (dict "name" $variable "secret" $keys.existingSecret "key" $key) }}
{{- end }}
- { name: LLM_FIRST_BYTE_TIMEOUT_SECONDS, value: {{ .firstByteTimeoutSeconds | quote }} }
- { name: LLM_SILENCE_TIMEOUT_SECONDS, value: {{ .silenceTimeoutSeconds | quote }} }
- { name: BUDGETS_WHEN_AWAY, value: {{ .budgets.whenDatabaseIsAway | quote }} }
- { name: BUDGET_HOLD_SECONDS, value: {{ int64 .budgets.holdSeconds | quote }} }
- { name: BUDGET_WAIT_SECONDS, value: {{ int64 .budgets.waitSeconds | quote }} }
- { name: RESPONSE_CACHE_SECONDS, value: {{ int64 .responseCache.seconds | quote }} }
- { name: RESPONSE_CACHE_MIB, value: {{ int64 .responseCache.mebibytes | quote }} }
- { name: PROMPT_LOG, value: {{ .promptLog | quote }} }
{{- end }}
{{- end -}}

{{- define "slipway.env.sandboxGateway" -}}
- { name: SANDBOX_BACKEND, value: kubernetes }
- { name: SANDBOX_GATEWAY_GRACE_SECONDS, value: {{ int64 .Values.sandboxGateway.graceSeconds | quote }} }
- { name: SANDBOX_GATEWAY_SILENCE_SECONDS, value: {{ int64 .Values.sandboxGateway.silenceSeconds | quote }} }
- { name: PUBLIC_URL, value: {{ .Values.publicUrl | trimSuffix "/" | quote }} }
{{ include "slipway.databaseUrl" (dict "root" . "role" "sandbox" "name" "DATABASE_URL") }}
{{ include "slipway.env.sandboxAccess" . }}
- { name: RUNTIME_API_URL, value: {{ include "slipway.url" (dict "root" . "app" "runtimeApi") | quote }} }
{{ include "slipway.ownVariable" (dict "root" . "name" "RUNTIME_API_KEY" "key" "runtimeApi") }}
{{- end -}}

{{/* What app-server and sandbox-gateway must have the same. */}}
{{- define "slipway.env.sandboxAccess" -}}
{{- with .Values.sandboxGateway.publicUrl -}}
- { name: SANDBOX_GATEWAY_URL, value: {{ . | trimSuffix "/" | quote }} }
{{ end -}}
{{ include "slipway.ownVariable" (dict "root" . "name" "SANDBOX_ACCESS_SECRET" "key" "sandboxGateway") }}
{{- end -}}

{{- define "slipway.env.web" -}}
- { name: HOSTNAME, value: 0.0.0.0 }
{{- end -}}

{{/* Every Secret that values name, with its keys: a list of {value, name, keys}. */}}
{{- define "slipway.neededSecrets" -}}
{{- $v := .Values -}}
{{- $p := $v.postgresql -}}
{{- $store := $v.sandboxes.workspaceStore -}}
{{- $needed := list -}}
{{- if $p.existingSecret -}}
{{- $needed = append $needed (dict "value" "postgresql.existingSecret" "name" $p.existingSecret "keys" (values $p.keys | sortAlpha)) -}}
{{- else -}}
{{- if $p.owner.existingSecret }}{{ $needed = append $needed (dict "value" "postgresql.owner.existingSecret" "name" $p.owner.existingSecret "keys" (list $p.owner.passwordKey)) }}{{ end -}}
{{- if $p.roles.existingSecret }}{{ $needed = append $needed (dict "value" "postgresql.roles.existingSecret" "name" $p.roles.existingSecret "keys" (values $p.roles.keys | sortAlpha)) }}{{ end -}}
{{- end -}}
{{- if $v.redis.existingSecret -}}
{{- $needed = append $needed (dict "value" "redis.existingSecret" "name" $v.redis.existingSecret "keys" (list $v.redis.urlKey)) -}}
{{- else if and $v.redis.host $v.redis.auth.existingSecret -}}
{{- $needed = append $needed (dict "value" "redis.auth.existingSecret" "name" $v.redis.auth.existingSecret "keys" (list $v.redis.auth.passwordKey)) -}}
{{- end -}}
{{- if $v.oidc.existingSecret }}{{ $needed = append $needed (dict "value" "oidc.existingSecret" "name" $v.oidc.existingSecret "keys" (list $v.oidc.clientSecretKey)) }}{{ end -}}
{{- if $v.llm.existingSecret }}{{ $needed = append $needed (dict "value" "llm.existingSecret" "name" $v.llm.existingSecret "keys" (list $v.llm.apiKeyKey)) }}{{ end -}}
{{- if $v.llm.modelKeys.existingSecret }}{{ $needed = append $needed (dict "value" "llm.modelKeys.existingSecret" "name" $v.llm.modelKeys.existingSecret "keys" (values $v.llm.modelKeys.variables)) }}{{ end -}}
{{- $unused := concat (ternary list (list "egress" "egressControl") (not (empty (include "slipway.egressProxied" .)))) (ternary list (list "broker" "credentialControl") (not (empty (include "slipway.brokered" .)))) -}}
{{- $own := $v.secrets.keys -}}
{{- range $unused }}{{ $own = omit $own . }}{{ end -}}
{{- if $v.secrets.existingSecret }}{{ $needed = append $needed (dict "value" "secrets.existingSecret" "name" $v.secrets.existingSecret "keys" (values $own | sortAlpha)) }}{{ end -}}
{{- if include "slipway.brokered" . }}{{ with $v.credentialBroker.ca }}{{ if .existingSecret }}{{ $needed = append $needed (dict "value" "credentialBroker.ca.existingSecret" "name" .existingSecret "keys" (values .keys | sortAlpha)) }}{{ end }}{{ end }}{{ end -}}
{{- with $v.observability.otlp }}{{ if and .endpoint .existingSecret }}{{ $needed = append $needed (dict "value" "observability.otlp.existingSecret" "name" .existingSecret "keys" (list .headersKey)) }}{{ end }}{{ end -}}
{{- with $v.observability.posthog }}{{ if .host }}{{ $needed = append $needed (dict "value" "observability.posthog.existingSecret" "name" .existingSecret "keys" (concat (list .keyKey .secretKey) (ternary (list .flagsKeyKey) list (eq $v.observability.flags.provider "posthog")))) }}{{ end }}{{ end -}}
{{- if and $store.url $store.existingSecret -}}
{{- $needed = append $needed (dict "value" "sandboxes.workspaceStore.existingSecret" "name" $store.existingSecret "keys" (list $store.accessKeyIdKey $store.secretAccessKeyKey)) -}}
{{- end -}}
{{- toYaml $needed -}}
{{- end -}}
