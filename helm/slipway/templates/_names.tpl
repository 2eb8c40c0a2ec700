{{/* Names, images and labels. An app is a key of the values (appServer) and a component (app-server). */}}

{{- define "slipway.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 40 characters, so that every name made of it is a DNS label. */}}
{{- define "slipway.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains (include "slipway.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "slipway.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "slipway.component" -}}
{{- index (dict "appServer" "app-server" "worker" "worker" "runtimeApi" "runtime-api" "llmGateway" "llm-gateway" "sandboxGateway" "sandbox-gateway" "egressProxy" "egress-proxy" "credentialBroker" "credential-broker" "web" "web") . -}}
{{- end -}}

{{- define "slipway.port" -}}
{{- index (dict "appServer" 3000 "worker" 3001 "runtimeApi" 3002 "llmGateway" 3003 "web" 3004 "sandboxGateway" 3006 "egressProxy" 3007 "credentialBroker" 3010) . -}}
{{- end -}}

{{/* Of every app: Prometheus alone may reach it. */}}
{{- define "slipway.metricsPort" -}}9464{{- end -}}

{{- define "slipway.labels" -}}
{{- $own := include "slipway.ownLabels" . | fromYaml -}}
{{- toYaml (mergeOverwrite (deepCopy .Values.commonLabels) $own) -}}
{{- end -}}

{{/* Labels of a pod: (dict "root" $ "component" "…" "labels" its own). The chart's go before those of the pod, and those before commonLabels. */}}
{{- define "slipway.podLabels" -}}
{{- $own := include "slipway.ownLabels" .root | fromYaml -}}
{{- toYaml (mergeOverwrite (deepCopy .root.Values.commonLabels) (deepCopy (default dict .labels)) $own (dict "app.kubernetes.io/component" .component)) -}}
{{- end -}}

{{- define "slipway.ownLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ include "slipway.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: slipway
{{- end -}}

{{/* (dict "root" $ "component" "…"): never changes, since a Deployment's selector cannot. */}}
{{- define "slipway.selector" -}}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* (dict "root" $ "image" values) */}}
{{- define "slipway.image" -}}
{{- $registry := .root.Values.image.registry | trimSuffix "/" -}}
{{- $name := ternary .image.repository (printf "%s/%s" $registry .image.repository) (empty $registry) -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $name .image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (coalesce .image.tag .root.Values.image.tag .root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* (dict "root" $ "app" "appServer"): the name of its Service for pods of this cluster. */}}
{{- define "slipway.host" -}}
{{- printf "%s-%s.%s.svc.%s" (include "slipway.fullname" .root) (include "slipway.component" .app) .root.Release.Namespace .root.Values.clusterDomain -}}
{{- end -}}

{{/* The same with scheme and port. */}}
{{- define "slipway.url" -}}
{{- printf "http://%s:%s" (include "slipway.host" .) (include "slipway.port" .app) -}}
{{- end -}}

{{/* "true" when sandboxes of some template go out through egress-proxy, which runs only then. */}}
{{- define "slipway.egressProxied" -}}
{{- range .Values.sandboxes.templates -}}
{{- if has (default "packages" .egress) (list "packages" "allow-list") -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* "true" when credentials are put into requests of sandboxes on their way. */}}
{{- define "slipway.brokered" -}}
{{- if and .Values.credentialBroker.enabled (include "slipway.egressProxied" .) -}}true{{- end -}}
{{- end -}}

{{/* Name of the Secret with the authority of credential-broker. */}}
{{- define "slipway.brokerCa" -}}
{{- default (printf "%s-broker-ca" (include "slipway.fullname" .)) .Values.credentialBroker.ca.existingSecret -}}
{{- end -}}

{{/* What that Secret holds now, as a hash, so that a change is a rollout: "" without a cluster. (dict "root" $ "keys" list) */}}
{{- define "slipway.brokerCaHash" -}}
{{- $found := default dict (lookup "v1" "Secret" .root.Release.Namespace (include "slipway.brokerCa" .root)) -}}
{{- $data := default dict $found.data -}}
{{- $lines := list -}}
{{- range .keys }}{{ if hasKey $data . }}{{ $lines = append $lines (index $data .) }}{{ end }}{{ end -}}
{{- if $lines }}{{ $lines | join "\n" | sha256sum }}{{ end -}}
{{- end -}}

{{- define "slipway.runtimeApiAccount" -}}
{{- printf "%s-runtime-api" (include "slipway.fullname" .) -}}
{{- end -}}

{{/* Name of the Secret that the chart makes. */}}
{{- define "slipway.ownSecret" -}}
{{- printf "%s-secrets" (include "slipway.fullname" .) -}}
{{- end -}}

{{/* The port of what urlParse gave. */}}
{{- define "slipway.portOf" -}}
{{- $port := regexFind ":[0-9]+$" .host | trimPrefix ":" -}}
{{- default (ternary "443" "80" (eq .scheme "https")) $port -}}
{{- end -}}
