{{/* The templates as runtime-api reads them: each with its image by digest. */}}
{{- define "slipway.sandboxTemplates" -}}
{{- $image := .Values.sandboxes.image -}}
{{- $reference := include "slipway.image" (dict "root" . "image" (dict "repository" $image.repository "digest" $image.digest "tag" "")) -}}
{{- $templates := list -}}
{{- range .Values.sandboxes.templates -}}
{{- $defaults := dict "image" $reference "imagePullPolicy" $image.pullPolicy -}}
{{- with $.Values.image.pullSecrets }}{{ $_ := set $defaults "imagePullSecrets" . }}{{ end -}}
{{- with include "slipway.priorityClass" (dict "root" $ "of" "sandboxes") }}{{ $_ := set $defaults "priorityClassName" . }}{{ end -}}
{{- $templates = append $templates (mergeOverwrite $defaults (deepCopy .)) -}}
{{- end -}}
{{- toYaml $templates -}}
{{- end -}}
