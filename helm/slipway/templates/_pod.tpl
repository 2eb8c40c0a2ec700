{{/* What every pod of the platform has in common: Pod Security `restricted`, and a root that cannot be written to. */}}

{{/* Of values `pods`, merged with an app's own. A key that is null is the cluster's to choose. */}}
{{- define "slipway.podSecurity" -}}
runAsNonRoot: true
{{- range $key := list "runAsUser" "runAsGroup" "fsGroup" }}
{{- $value := index $.securityContext $key }}
{{- if not (kindIs "invalid" $value) }}
{{ $key }}: {{ int64 $value }}
{{- end }}
{{- end }}
{{- with .securityContext.supplementalGroups }}
supplementalGroups: {{- range . }}
  - {{ int64 . }}
{{- end }}
{{- end }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "slipway.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
privileged: false
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "slipway.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "slipway.caMount" -}}
{{- if .Values.privateCa.configMap }}
- { name: ca, mountPath: /etc/slipway/ca, readOnly: true }
{{- end }}
{{- end -}}

{{- define "slipway.caVolume" -}}
{{- with .Values.privateCa }}
{{- if .configMap }}
- name: ca
  configMap:
    name: {{ .configMap | quote }}
    items: [{ key: {{ .key | quote }}, path: ca.crt }]
{{- end }}
{{- end }}
{{- end -}}

{{/* A PriorityClass by its key in priorityClasses, "" when pods have none: (dict "root" $ "of" "platform") */}}
{{- define "slipway.priorityClass" -}}
{{- $class := index .root.Values.priorityClasses .of -}}
{{- if or $class.create $class.name -}}{{ default (printf "%s-%s" (include "slipway.fullname" .root) .of) $class.name }}{{- end -}}
{{- end -}}

{{/* Variables of a container without any name twice, as a list: (dict "chart" YAML list "extra" list). The last of a name counts, and a name keeps its place. */}}
{{- define "slipway.environment" -}}
{{- $last := dict -}}
{{- $names := list -}}
{{- range concat (.chart | fromYamlArray) .extra -}}
{{- $_ := set $last .name . -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- range $names | uniq }}
- {{ toYaml (index $last .) | nindent 2 | trim }}
{{- end -}}
{{- end -}}

{{/* What a pod's Secrets and ConfigMaps hold that are there now, as one hash, so that a change is a rollout: (dict "root" $ "env" list "envFrom" list). "" without a cluster. */}}
{{- define "slipway.contentHash" -}}
{{- $root := .root -}}
{{- $found := dict -}}
{{- $lines := list -}}
{{- $references := list -}}
{{- range .env -}}
{{- with (.valueFrom).secretKeyRef }}{{ $references = append $references (dict "kind" "Secret" "name" .name "keys" (list .key)) }}{{ end -}}
{{- with (.valueFrom).configMapKeyRef }}{{ $references = append $references (dict "kind" "ConfigMap" "name" .name "keys" (list .key)) }}{{ end -}}
{{- end -}}
{{- range .envFrom -}}
{{- with .secretRef }}{{ $references = append $references (dict "kind" "Secret" "name" .name "keys" list) }}{{ end -}}
{{- with .configMapRef }}{{ $references = append $references (dict "kind" "ConfigMap" "name" .name "keys" list) }}{{ end -}}
{{- end -}}
{{- with $root.Values.privateCa }}{{ if .configMap }}{{ $references = append $references (dict "kind" "ConfigMap" "name" .configMap "keys" (list .key)) }}{{ end }}{{ end -}}
{{- range $references -}}
{{- $id := printf "%s/%s" .kind .name -}}
{{- if not (hasKey $found $id) }}{{ $_ := set $found $id (default dict (lookup "v1" .kind $root.Release.Namespace .name)) }}{{ end -}}
{{- $data := default dict (index $found $id).data -}}
{{- range default (keys $data) .keys -}}
{{- if hasKey $data . }}{{ $lines = append $lines (printf "%s/%s=%s" $id . (index $data .)) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if $lines }}{{ $lines | uniq | sortAlpha | join "\n" | sha256sum }}{{ end -}}
{{- end -}}

{{/* Where pods may run: (dict "root" $ "pods" merged values) */}}
{{- define "slipway.placement" -}}
{{- with .pods.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pods.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pods.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pods.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- end -}}

{{/*
A Deployment, its Service, ServiceAccount, PDB and HPA: (dict "root" $ "app" "appServer" "volumes" YAML "mounts" YAML "annotations" dict "ports" more of its ports by name).
The environment is the template slipway.env.<app>.
*/}}
{{- define "slipway.app" -}}
{{- $root := .root -}}
{{- $values := index $root.Values .app -}}
{{- $component := include "slipway.component" .app -}}
{{- $port := include "slipway.port" .app | int -}}
{{- $name := printf "%s-%s" (include "slipway.fullname" $root) $component -}}
{{- $pods := mergeOverwrite (deepCopy $root.Values.pods) (deepCopy $values.pod) -}}
{{- range list "extraEnv" "extraEnvFrom" "extraVolumes" "extraVolumeMounts" -}}
{{- $_ := set $pods . (concat (index $root.Values.pods .) (default list (index $values.pod .))) -}}
{{- end -}}
{{- if not $pods.priorityClassName }}{{ $_ := set $pods "priorityClassName" (include "slipway.priorityClass" (dict "root" $root "of" "platform")) }}{{ end -}}
{{- $datadog := dict "root" $root "component" $component -}}
{{- $own := printf "- { name: HOST, value: 0.0.0.0 }\n- { name: PORT, value: %q }\n- { name: METRICS_PORT, value: %q }" (toString $port) (include "slipway.metricsPort" $root) -}}
{{- /* Next's server and worker have no such variable: the one has a preStop, the other is sent nothing. */}}
{{- if not (has .app (list "web" "worker")) }}{{ $own = printf "%s\n- { name: DRAIN_SECONDS, value: %q }" $own (toString $pods.drainSeconds) }}{{ end -}}
{{- $env := include "slipway.environment" (dict "extra" $pods.extraEnv
  "chart" (printf "%s\n%s\n%s" $own (include "slipway.env.base" $root) (printf "%s\n%s" (include (printf "slipway.env.%s" .app) $root) (include "slipway.datadogEnv" $datadog)))) -}}
{{- $annotations := merge (deepCopy (default dict .annotations)) $pods.annotations (default dict (include "slipway.datadogAnnotations" $datadog | fromYaml)) -}}
{{- with include "slipway.contentHash" (dict "root" $root "env" ($env | fromYamlArray) "envFrom" $pods.extraEnvFrom) }}{{ $_ := set $annotations "checksum/secrets" . }}{{ end -}}
{{- $selector := include "slipway.selector" (dict "root" $root "component" $component) -}}
{{- $token := eq .app "runtimeApi" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "slipway.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $component }}
  {{- with ($values.serviceAccount).annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: {{ $token }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "slipway.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $component }}
  {{- with $values.service.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  selector:
    {{- $selector | nindent 4 }}
  ports:
    - { name: http, port: {{ $port }}, targetPort: http, protocol: TCP, appProtocol: http }
    - { name: metrics, port: {{ include "slipway.metricsPort" $root }}, targetPort: metrics, protocol: TCP, appProtocol: http }
    {{- range $name, $more := .ports }}
    - { name: {{ $name }}, port: {{ $more }}, targetPort: {{ $name }}, protocol: TCP }
    {{- end }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "slipway.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $component }}
    {{- with include "slipway.datadogLabels" $datadog }}{{ . | nindent 4 }}{{ end }}
  {{- with $pods.deploymentAnnotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- if not $values.autoscaling.enabled }}
  replicas: {{ $values.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  strategy:
    {{- if and $token $root.Values.sandboxes.workspaceStore.volume.enabled (eq $root.Values.sandboxes.workspaceStore.volume.accessMode "ReadWriteOnce") }}
    # The volume is on one node at a time.
    type: Recreate
    {{- else }}
    type: RollingUpdate
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
    {{- end }}
  selector:
    matchLabels:
      {{- $selector | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "slipway.podLabels" (dict "root" $root "component" $component "labels" $pods.labels) | nindent 8 }}
        {{- with include "slipway.datadogLabels" $datadog }}{{ . | nindent 8 }}{{ end }}
        {{- with include "slipway.datadogAdmission" $datadog }}{{ . | nindent 8 }}{{ end }}
      {{- with $annotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ $name }}
      automountServiceAccountToken: {{ $token }}
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ $pods.terminationGracePeriodSeconds }}
      securityContext:
        {{- include "slipway.podSecurity" $pods | nindent 8 }}
      {{- include "slipway.pullSecrets" $root | nindent 6 }}
      {{- include "slipway.placement" (dict "pods" $pods) | nindent 6 }}
      {{- if $pods.topologySpread.enabled }}
      topologySpreadConstraints:
        {{- range $pods.topologySpread.topologyKeys }}
        - maxSkew: 1
          topologyKey: {{ . | quote }}
          whenUnsatisfiable: {{ $pods.topologySpread.whenUnsatisfiable }}
          # Old and new pods of a rollout are counted apart: otherwise the new ones go where the old ones make room.
          matchLabelKeys: [pod-template-hash]
          labelSelector:
            matchLabels:
              {{- $selector | nindent 14 }}
        {{- end }}
      {{- end }}
      containers:
        - name: {{ $component }}
          image: {{ include "slipway.image" (dict "root" $root "image" $values.image) | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          env:
            {{- $env | nindent 12 }}
          {{- with $pods.extraEnvFrom }}
          envFrom: {{- toYaml . | nindent 12 }}
          {{- end }}
          ports:
            - { name: http, containerPort: {{ $port }}, protocol: TCP }
            - { name: metrics, containerPort: {{ include "slipway.metricsPort" $root }}, protocol: TCP }
            {{- range $name, $more := .ports }}
            - { name: {{ $name }}, containerPort: {{ $more }}, protocol: TCP }
            {{- end }}
          startupProbe:
            httpGet: { path: /alive, port: http }
            periodSeconds: 2
            timeoutSeconds: 3
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /alive, port: http }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /ready, port: http }
            periodSeconds: 5
            timeoutSeconds: 3
            failureThreshold: 2
          {{- if and (eq .app "web") (gt (int $pods.drainSeconds) 0) }}
          # Next's server ends at once when it is told to; the others drain by themselves.
          lifecycle:
            preStop: { sleep: { seconds: {{ $pods.drainSeconds }} } }
          {{- end }}
          resources: {{- include "slipway.resources" (dict "root" $root "component" $component "resources" $values.resources) | nindent 12 }}
          securityContext:
            {{- include "slipway.containerSecurity" $root | nindent 12 }}
          terminationMessagePolicy: FallbackToLogsOnError
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            {{- include "slipway.caMount" $root | nindent 12 }}
            {{- with .mounts }}{{ . | nindent 12 }}{{ end }}
            {{- with $pods.extraVolumeMounts }}{{ toYaml . | nindent 12 }}{{ end }}
      volumes:
        - { name: tmp, emptyDir: { sizeLimit: 512Mi } }
        {{- include "slipway.caVolume" $root | nindent 8 }}
        {{- with .volumes }}{{ . | nindent 8 }}{{ end }}
        {{- with $pods.extraVolumes }}{{ toYaml . | nindent 8 }}{{ end }}
{{- if $values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "slipway.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $component }}
spec:
  maxUnavailable: {{ $values.podDisruptionBudget.maxUnavailable }}
  # A pod that cannot get ready holds up no drain.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- $selector | nindent 6 }}
{{- end }}
{{- if $values.autoscaling.enabled }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "slipway.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $component }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ $name }} }
  minReplicas: {{ $values.autoscaling.minReplicas }}
  maxReplicas: {{ $values.autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ $values.autoscaling.targetCPUUtilizationPercentage }} }
    {{- with $values.autoscaling.metrics }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  behavior:
    # Sockets and calls to models last minutes: what is taken away is taken away slowly.
    scaleDown: { stabilizationWindowSeconds: 600, policies: [{ type: Pods, value: 1, periodSeconds: 120 }] }
{{- end }}
{{- end -}}
