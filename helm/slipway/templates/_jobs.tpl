{{/*
A Job that is a hook, and its pod: (dict "root" $ "component" "…" "hook" "pre-install,pre-upgrade" "weight" -10 "image" values "command" list "env" YAML "settings" values "account" name or "").
Left where it is when it fails, so that its words can be read; Helm prints them too.
*/}}
{{- define "slipway.hookJob" -}}
{{- $root := .root -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "slipway.fullname" $root }}-{{ .component }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "slipway.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  annotations:
    helm.sh/hook: {{ .hook }}
    helm.sh/hook-weight: {{ .weight | quote }}
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
    helm.sh/hook-output-log-policy: hook-failed
spec:
  backoffLimit: {{ .retries }}
  activeDeadlineSeconds: {{ .settings.timeoutSeconds }}
  template:
    metadata:
      labels:
        {{- include "slipway.podLabels" (dict "root" $root "component" .component) | nindent 8 }}
    spec:
      restartPolicy: Never
      {{- with .account }}
      serviceAccountName: {{ . }}
      {{- end }}
      automountServiceAccountToken: {{ not (empty .account) }}
      enableServiceLinks: false
      securityContext:
        {{- include "slipway.podSecurity" $root.Values.pods | nindent 8 }}
      {{- include "slipway.pullSecrets" $root | nindent 6 }}
      {{- include "slipway.placement" (dict "pods" $root.Values.pods) | nindent 6 }}
      containers:
        - name: {{ .component }}
          image: {{ include "slipway.image" (dict "root" $root "image" .image) | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          command: {{- toYaml .command | nindent 12 }}
          env:
            {{- include "slipway.environment" (dict "chart" (printf "%s\n%s" (include "slipway.env.base" $root) .env) "extra" $root.Values.pods.extraEnv) | nindent 12 }}
          {{- with $root.Values.pods.extraEnvFrom }}
          envFrom: {{- toYaml . | nindent 12 }}
          {{- end }}
          resources: {{- toYaml .settings.resources | nindent 12 }}
          securityContext:
            {{- include "slipway.containerSecurity" $root | nindent 12 }}
          terminationMessagePolicy: FallbackToLogsOnError
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            {{- include "slipway.caMount" $root | nindent 12 }}
            {{- with $root.Values.pods.extraVolumeMounts }}{{ toYaml . | nindent 12 }}{{ end }}
      volumes:
        - { name: tmp, emptyDir: { sizeLimit: 64Mi } }
        {{- include "slipway.caVolume" $root | nindent 8 }}
        {{- with $root.Values.pods.extraVolumes }}{{ toYaml . | nindent 8 }}{{ end }}
{{- end -}}
