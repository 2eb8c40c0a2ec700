{{/* Peers that are the internet, as sandboxes/network-egress-open.yaml has them: tests/helm holds the two against each other. */}}
{{- define "slipway.publicAddresses" -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except:
      {{- range concat .Values.sandboxes.network.clusterRanges.ipv4 (list "10.0.0.0/8" "172.16.0.0/12" "192.168.0.0/16" "100.64.0.0/10" "169.254.0.0/16" "168.63.129.16/32" "127.0.0.0/8" "0.0.0.0/8" "192.0.0.0/24" "192.0.2.0/24" "198.51.100.0/24" "203.0.113.0/24" "192.88.99.0/24" "198.18.0.0/15" "224.0.0.0/4" "240.0.0.0/4") }}
      - {{ . }}
      {{- end }}
- ipBlock:
    cidr: 2000::/3
    except:
      {{- range concat .Values.sandboxes.network.clusterRanges.ipv6 (list "2001::/23" "2001:db8::/32" "3fff::/20" "2002::/16") }}
      - {{ . }}
      {{- end }}
{{- end -}}

{{/* Every port that a rule opens, its own or that of an entry: JSON. */}}
{{- define "slipway.egressPorts" -}}
{{- $hosts := concat .Values.egress.commonHosts .Values.egress.packageHosts -}}
{{- range .Values.sandboxes.templates }}{{ $hosts = concat $hosts (default list .allowedHosts) }}{{ end -}}
{{- $ports := list -}}
{{- range .Values.egress.ports }}{{ $ports = append $ports (int .) }}{{ end -}}
{{- range $hosts -}}
{{- with regexFind ":[0-9]+$" . }}{{ $ports = append $ports (trimPrefix ":" . | int) }}{{ end -}}
{{- end -}}
{{- $ports | uniq | toJson -}}
{{- end -}}
