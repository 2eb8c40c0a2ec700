{{/* What every pod of the platform has in common: Pod Security `restricted`, and a root that cannot be written to. */}}

{{- define "slipway.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
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
        {{- with $pods.labels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- include "slipway.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ $component }}
      {{- with merge (deepCopy (default dict .annotations)) $pods.annotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ $name }}
      automountServiceAccountToken: {{ $token }}
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ $pods.terminationGracePeriodSeconds }}
      securityContext:
        {{- include "slipway.podSecurity" $root | nindent 8 }}
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
            - { name: HOST, value: 0.0.0.0 }
            - { name: PORT, value: {{ $port | quote }} }
            {{- if ne .app "web" }}
            - { name: DRAIN_SECONDS, value: {{ $pods.drainSeconds | quote }} }
            {{- end }}
            {{- include "slipway.env.base" $root | nindent 12 }}
            {{- include (printf "slipway.env.%s" .app) $root | nindent 12 }}
          ports:
            - { name: http, containerPort: {{ $port }}, protocol: TCP }
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
          resources: {{- toYaml $values.resources | nindent 12 }}
          securityContext:
            {{- include "slipway.containerSecurity" $root | nindent 12 }}
          terminationMessagePolicy: FallbackToLogsOnError
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            {{- include "slipway.caMount" $root | nindent 12 }}
            {{- with .mounts }}{{ . | nindent 12 }}{{ end }}
      volumes:
        - { name: tmp, emptyDir: { sizeLimit: 512Mi } }
        {{- include "slipway.caVolume" $root | nindent 8 }}
        {{- with .volumes }}{{ . | nindent 8 }}{{ end }}
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
  behavior:
    # Sockets and calls to models last minutes: what is taken away is taken away slowly.
    scaleDown: { stabilizationWindowSeconds: 600, policies: [{ type: Pods, value: 1, periodSeconds: 120 }] }
{{- end }}
{{- end -}}
