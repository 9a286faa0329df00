{{- define "automation-exporter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "automation-exporter.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "automation-exporter.selector" -}}
app.kubernetes.io/name: {{ include "automation-exporter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "automation-exporter.labels" -}}
{{ include "automation-exporter.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "automation-exporter.image" -}}
{{- $repository := required "image.repository: name the registry and repository to which you pushed the image; the README of the chart has the commands" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "automation-exporter.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "automation-exporter.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{/* The prefix of all paths, empty for the root: as configured, or the path that an Ingress or an HTTPRoute passes on. */}}
{{- define "automation-exporter.prefix" -}}
{{- $path := "" -}}
{{- if or .Values.ingress.enabled .Values.httpRoute.enabled -}}
{{- $path = (include "automation-exporter.external" . | fromJson).path -}}
{{- end -}}
{{ dig "web" "route_prefix" $path .Values.config | trimSuffix "/" }}
{{- end -}}

{{/* Not empty where the state is in a database, which several replicas can share. */}}
{{- define "automation-exporter.shared" -}}
{{- if or (dig "state" "postgres" "host" "" .Values.config) (dig "state" "postgres" "url_file" "" .Values.config) -}}yes{{- end -}}
{{- end -}}

{{- define "automation-exporter.scheme" -}}
{{- if and .Values.webConfig.existingSecret .Values.webConfig.tls -}}HTTPS{{- else -}}HTTP{{- end -}}
{{- end -}}

{{/* The configuration. Helm reads YAML 1.1, where the key `off` is false. */}}
{{- define "automation-exporter.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- with include "automation-exporter.prefix" . -}}
{{- $config = mergeOverwrite $config (dict "web" (dict "route_prefix" .)) -}}
{{- end -}}
{{ regexReplaceAll "(?m)^( *)\"false\":" (toYaml $config) "${1}\"off\":" }}
{{- end -}}

{{/* The address of the exporter inside the cluster. */}}
{{- define "automation-exporter.own" -}}
{{ printf "%s://%s.%s.svc:%v%s" (include "automation-exporter.scheme" . | lower) (include "automation-exporter.fullname" .) .Release.Namespace .Values.service.port (include "automation-exporter.prefix" .) }}
{{- end -}}

{{/* The address at which browsers open the pages, to which links of rules and dashboards lead. */}}
{{- define "automation-exporter.address" -}}
{{ dig "web" "external_url" (include "automation-exporter.own" .) .Values.config | trimSuffix "/" }}
{{- end -}}

{{/* Host and path of that address, for what leads browsers to the exporter. */}}
{{- define "automation-exporter.external" -}}
{{- $url := required "config.web.external_url: set it to the address at which browsers open the pages; Ingress and HTTPRoute take host and path from it" (dig "web" "external_url" "" .Values.config) | urlParse -}}
{{- $path := get $url "path" | trimSuffix "/" -}}
{{ dict "host" (get $url "host" | regexFind "^[^:]+") "path" (default "/" $path) | toJson }}
{{- end -}}

{{/* The groups of rules with the thresholds of the configuration, without the alerts that it turns off. */}}
{{- define "automation-exporter.groups" -}}
{{- $root := .root -}}
{{- $off := dig "alerts" "off" (dig "alerts" "false" list .root.Values.config) .root.Values.config -}}
{{- $thresholds := .root.Files.Get "files/thresholds.yaml" | fromYaml -}}
{{- $values := merge (dict) (dig "alerts" "thresholds" dict .root.Values.config) $thresholds.defaults -}}
{{- $without := list -}}
{{- range list "AutomationNodeFailingEverywhere" "AutomationCommonCause" -}}
{{- if has . $off -}}{{- $without = append $without . -}}{{- end -}}
{{- end -}}
{{- $groups := list -}}
{{- range (fromYaml .rules).groups -}}
{{- $rules := list -}}
{{- range $rule := .rules -}}
{{- if not (and $rule.alert (has $rule.alert $off)) -}}
{{- $name := default (printf "%s/%s" $rule.record (dig "labels" "sloth_slo" "" $rule)) $rule.alert -}}
{{- $alone := printf "%s without %s" $name (join " and " $without) -}}
{{- if hasKey $thresholds.fields $alone -}}
{{- $name = $alone -}}
{{- end -}}
{{- range $field, $text := get $thresholds.fields $name | default dict -}}
{{- range $key, $value := $values -}}
{{- $text = $text | replace (printf "@%s@" $key) (toString $value) -}}
{{- if contains (printf "@%s_percent@" $key) $text -}}
{{- $text = $text | replace (printf "@%s_percent@" $key) (mulf $value 100 | toString) -}}
{{- end -}}
{{- end -}}
{{- if eq $field "sloth_objective" -}}{{- $_ := set $rule.labels $field $text -}}
{{- else if hasKey $rule $field -}}{{- $_ := set $rule $field $text -}}
{{- else -}}{{- $_ := set $rule.annotations $field $text -}}
{{- end -}}
{{- end -}}
{{- if and $rule.annotations (not $root.Values.prometheusRule.grafanaUrl) -}}{{- $_ := unset $rule.annotations "dashboard_url" -}}{{- end -}}
{{- $rules = append $rules $rule -}}
{{- end -}}
{{- end -}}
{{- if $rules -}}{{- $groups = append $groups (merge (dict "rules" $rules) (omit . "rules")) -}}{{- end -}}
{{- end -}}
{{- $groups | toYaml -}}
{{- end -}}
