{{/* What selects the operator's pods. */}}
{{- define "paddle-operator.selector" -}}
app.kubernetes.io/name: paddle-operator
{{- end }}

{{- define "paddle-operator.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end }}

{{/*
A role and its binding for the operator's account: for the whole cluster, or in one namespace.
Takes the root, name and rules of the role, and the namespace if it is for one.
*/}}
{{- define "paddle-operator.rights" -}}
{{- $kind := empty .namespace | ternary "ClusterRole" "Role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ .role.name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
rules:
  {{- toYaml .role.rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ .role.name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ .role.name }}
subjects:
  - kind: ServiceAccount
    name: paddle-controller-manager
    namespace: {{ .root.Release.Namespace }}
{{- end }}
