{{/* What the exporter and its test have in common: configuration, secrets and the way to the trace backend. */}}
{{- define "automation-exporter.environment" -}}
{{- with .Values.traces.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
- name: OTEL_EXPORTER_OTLP_PROTOCOL
  value: {{ $.Values.traces.protocol | quote }}
{{- end }}
{{- with .Values.traces.headersSecret.name }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $.Values.traces.headersSecret.key }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "automation-exporter.arguments" -}}
- --config.file=/etc/automation-exporter/config.yaml
{{- if .Values.webConfig.existingSecret }}
- --web.config.file=/etc/automation-exporter-web/{{ .Values.webConfig.key }}
{{- end }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "automation-exporter.mounts" -}}
- name: config
  mountPath: /etc/automation-exporter
  readOnly: true
{{- range .Values.secrets }}
- name: secret-{{ . | replace "." "-" | trunc 50 }}
  mountPath: /run/secrets/{{ . }}
  readOnly: true
{{- end }}
{{- if .Values.webConfig.existingSecret }}
- name: web
  mountPath: /etc/automation-exporter-web
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "automation-exporter.volumes" -}}
- name: config
  configMap:
    name: {{ include "automation-exporter.fullname" . }}
{{- range .Values.secrets }}
- name: secret-{{ . | replace "." "-" | trunc 50 }}
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- with .Values.webConfig.existingSecret }}
- name: web
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
