{{- define "drumfire.labels" -}}
app.kubernetes.io/name: drumfire
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "drumfire.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "drumfire.nats" -}}
{{- if .Values.nats.deploy -}}
nats://{{ .Release.Name }}-nats:4222
{{- else -}}
{{ required "nats.url is required if nats.deploy is false" .Values.nats.url }}
{{- end -}}
{{- end }}

{{- define "drumfire.pod" -}}
restartPolicy: Never
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "drumfire.container" -}}
image: {{ include "drumfire.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "drumfire.job" -}}
{{- with .Values.keepSeconds }}
ttlSecondsAfterFinished: {{ . }}
{{- end }}
{{- end }}
