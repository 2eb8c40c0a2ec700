{{/* Datadog's tracer in the apps that bring it, and what its agent needs to know of every app. docs/operate/datadog.md. */}}

{{/* "true" when this app sends spans: (dict "root" $ "component" "worker") */}}
{{- define "slipway.datadogTraces" -}}
{{- with .root.Values.observability.datadog }}{{ if and .enabled (has $.component .apps) }}true{{ end }}{{ end -}}
{{- end -}}

{{/* Labels of a Deployment and of its pods: (dict "root" $ "component" "…") */}}
{{- define "slipway.datadogLabels" -}}
{{- $datadog := .root.Values.observability.datadog -}}
{{- if $datadog.enabled -}}
tags.datadoghq.com/env: {{ $datadog.env | quote }}
tags.datadoghq.com/service: slipway-{{ .component }}
tags.datadoghq.com/version: {{ .root.Chart.AppVersion | quote }}
{{- end -}}
{{- end -}}

{{/* Labels of pods alone. An app has its own tracer or none; a second one, injected by the cluster, is kept away. */}}
{{- define "slipway.datadogAdmission" -}}
{{- $datadog := .root.Values.observability.datadog -}}
{{- if $datadog.enabled -}}
{{- if and (include "slipway.datadogTraces" .) (eq $datadog.agent.mode "injected") -}}
admission.datadoghq.com/enabled: "true"
admission.datadoghq.com/config.mode: service
{{- else -}}
admission.datadoghq.com/enabled: "false"
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Annotations by which the agent finds metrics and log lines. Only named metrics: each series is one that Datadog bills. Dashboards read the counts beside distributions;
the label `service` goes, since the tag of that name is the pod's.
*/}}
{{- define "slipway.datadogAnnotations" -}}
{{- $datadog := .root.Values.observability.datadog -}}
{{- if and $datadog.enabled $datadog.metrics -}}
{{- $instance := dict
  "openmetrics_endpoint" (printf "http://%%%%host%%%%:%s/metrics" (include "slipway.metricsPort" .root))
  "namespace" "slipway"
  "metrics" (concat (.root.Files.Get "files/datadog/metrics.json" | fromJsonArray) $datadog.extraMetrics)
  "collect_histogram_buckets" true
  "histogram_buckets_as_distributions" true
  "collect_counters_with_distributions" true
  "exclude_labels" (list "service") }}
ad.datadoghq.com/{{ .component }}.checks: {{ dict "openmetrics" (dict "instances" (list $instance)) | toJson | quote }}
{{- end }}
{{- if and $datadog.enabled $datadog.logs }}
ad.datadoghq.com/{{ .component }}.logs: {{ list (dict "source" "nodejs" "service" (printf "slipway-%s" .component)) | toJson | quote }}
{{- end -}}
{{- end -}}

{{/* Variables of a traced app. dd-trace is not read without the first. */}}
{{- define "slipway.datadogEnv" -}}
{{- $datadog := .root.Values.observability.datadog -}}
{{- if include "slipway.datadogTraces" . -}}
- { name: NODE_OPTIONS, value: "--import=file:///opt/slipway/datadog/preload.mjs" }
{{- range $name, $tag := dict "DD_ENV" "env" "DD_SERVICE" "service" "DD_VERSION" "version" }}
- name: {{ $name }}
  valueFrom: { fieldRef: { fieldPath: "metadata.labels['tags.datadoghq.com/{{ $tag }}']" } }
{{- end }}
{{- if eq $datadog.agent.mode "service" }}
- { name: DD_AGENT_HOST, value: {{ printf "%s.%s.svc" $datadog.agent.host $datadog.agent.namespace | quote }} }
{{- else if eq $datadog.agent.mode "hostIP" }}
- { name: DD_AGENT_HOST, valueFrom: { fieldRef: { fieldPath: status.hostIP } } }
{{- end }}
- { name: DD_TRACE_AGENT_PORT, value: {{ int $datadog.agent.port | quote }} }
- { name: DD_TRACE_SAMPLE_RATE, value: {{ $datadog.sampleRate | quote }} }
{{- if $datadog.keepFailures }}
- { name: SLIPWAY_TRACES_KEEP_FAILURES, value: "true" }
{{- end }}
- { name: DD_RUNTIME_METRICS_ENABLED, value: {{ $datadog.runtimeMetrics | quote }} }
{{- if $datadog.runtimeMetrics }}
- { name: DD_DOGSTATSD_PORT, value: {{ int $datadog.agent.statsPort | quote }} }
{{- end }}
- { name: DD_PROFILING_ENABLED, value: {{ $datadog.profiling | quote }} }
{{- if eq .component "app-server" }}
# A stranger's request does not decide whether its trace is sent.
- { name: SLIPWAY_TRACES_EDGE, value: "true" }
{{- end }}
{{- end -}}
{{- end -}}

{{/* Resources of a container with 128 MiB more memory, for up to 64 MiB of spans under way and the tracer itself: (dict "root" $ "component" "…" "resources" dict) */}}
{{- define "slipway.resources" -}}
{{- $resources := deepCopy .resources -}}
{{- $memory := toString (default "" ($resources.limits).memory) -}}
{{- if and (include "slipway.datadogTraces" .) $memory -}}
{{- $mebibytes := 0 -}}
{{- if hasSuffix "Gi" $memory }}{{ $mebibytes = mulf (trimSuffix "Gi" $memory | float64) 1024 | int -}}
{{- else if hasSuffix "Mi" $memory }}{{ $mebibytes = trimSuffix "Mi" $memory | int -}}
{{- else if hasSuffix "G" $memory }}{{ $mebibytes = mulf (trimSuffix "G" $memory | float64) 953 | int -}}
{{- else if hasSuffix "M" $memory }}{{ $mebibytes = mulf (trimSuffix "M" $memory | float64) 0.953 | int -}}
{{- else if regexMatch "^[0-9]+$" $memory }}{{ $mebibytes = div (int64 $memory) 1048576 -}}
{{- else }}{{ fail (printf "%s: the memory limit %s is in no unit that 128 MiB can be added to; write it in Mi or Gi" .component $memory) }}{{ end -}}
{{- $_ := set $resources.limits "memory" (printf "%dMi" (add $mebibytes 128)) -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end -}}
