/** One value of the chart, for the values file, the schema and the template. */
type ChartValue = {
  /** The place of the value, such as `image.tag`. */
  readonly path: string;
  readonly default: unknown;
  readonly schema: Schema;
  readonly help: string;
};

type Schema = { readonly [key: string]: unknown };

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const map: Schema = { type: 'object' };
const list: Schema = { type: 'array' };
const texts: Schema = { type: 'object', additionalProperties: { type: 'string' } };
const objects: Schema = { type: 'array', items: { type: 'object' } };
const duration: Schema = { type: 'string', pattern: '^([0-9]+(ms|[smhdwy]))+$' };
const optionalDuration: Schema = { type: 'string', pattern: '^(([0-9]+(ms|[smhdwy]))+)?$' };
const name: Schema = { type: 'string', pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$', maxLength: 63 };
const secretName: Schema = { type: 'string', pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$', maxLength: 253 };
const size: Schema = { type: 'string', pattern: '^[0-9]+(Ki|Mi|Gi|Ti)$' };
const percentOrNumber: Schema = { type: ['integer', 'string'], pattern: '^[0-9]+%$', minimum: 0 };

/** The rights of every container of the chart, as few as possible. */
const restricted = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
const restrictedPod = {
  runAsNonRoot: true,
  runAsUser: 65532,
  runAsGroup: 65532,
  fsGroup: 65532,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
};

/** Every value of the chart in the order of values.yaml. */
export const chartValues: readonly ChartValue[] = [
  row(
    'config',
    {},
    { $ref: '#/definitions/config' },
    'Configuration of the exporter, as in its file; secrets are named by the path of a file below /run/secrets. Set config.web.external_url to the address under which browsers open the pages: links in alerts lead there.',
  ),
  row(
    'replicas',
    1,
    { type: 'integer', minimum: 0, maximum: 10 },
    'Number of exporters; for more than one, set config.state.postgres.host: they share the servers through that database.',
  ),
  row(
    'secrets',
    [],
    { type: 'array', items: { ...secretName, minLength: 1 }, uniqueItems: true },
    'Existing Secrets, each mounted at /run/secrets/NAME; config names the files in them.',
  ),
  row(
    'webConfig.existingSecret',
    '',
    secretName,
    'Existing Secret with the web configuration and the certificates that it names; without it, everyone can read the exporter.',
  ),
  row(
    'webConfig.key',
    'web.yml',
    { type: 'string', pattern: '^[-._a-zA-Z0-9]+$' },
    'Key of the web configuration in that Secret.',
  ),
  row('webConfig.tls', false, flag, 'Whether the web configuration has tls_server_config: probes then speak HTTPS.'),
  row(
    'traces.endpoint',
    '',
    { type: 'string', pattern: '^(https?://.+)?$' },
    'OTLP endpoint to which the traces of executions are sent, for example http://collector:4318; none are sent if empty.',
  ),
  row('traces.protocol', 'http/protobuf', { enum: ['http/protobuf', 'http/json'] }, 'Protocol of the OTLP endpoint.'),
  row('traces.headersSecret.name', '', secretName, 'Existing Secret with the headers for the OTLP endpoint.'),
  row(
    'traces.headersSecret.key',
    'headers',
    { type: 'string', pattern: '^[-._a-zA-Z0-9]+$' },
    'Key of the headers in that Secret, as NAME=VALUE,….',
  ),
  row('extraArgs', [], { type: 'array', items: { type: 'string', pattern: '^--' } }, 'More flags of the exporter.'),
  row('extraEnv', [], objects, 'More environment variables.'),
  row('image.repository', '', text, 'Registry and repository of the image; required.'),
  row('image.tag', '', text, 'Tag of the image; the version of the chart if empty.'),
  row(
    'image.digest',
    '',
    { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
    'Digest of the image; takes precedence over the tag.',
  ),
  row('image.pullPolicy', 'IfNotPresent', { enum: ['Always', 'IfNotPresent', 'Never'] }, 'When the image is pulled.'),
  row('imagePullSecrets', [], objects, 'Secrets for pulling the image.'),
  row('nameOverride', '', name, 'Name of the chart in the names of objects.'),
  row('fullnameOverride', '', name, 'Name of all objects.'),
  row('commonLabels', {}, texts, 'Labels of all objects.'),
  row(
    'persistence.enabled',
    true,
    flag,
    'Keep the state on a volume; without it, counters start at 0 after each restart. With config.state.postgres.host there is no volume.',
  ),
  row('persistence.existingClaim', '', secretName, 'Existing claim for the state instead of one of the StatefulSet.'),
  row('persistence.storageClassName', '', text, 'Storage class of the volume; the default one if empty.'),
  row('persistence.size', '2Gi', size, 'Size of the volume.'),
  row('persistence.annotations', {}, texts, 'Annotations of the claim.'),
  row('service.type', 'ClusterIP', { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] }, 'Type of the Service.'),
  row('service.port', 9720, { type: 'integer', minimum: 1, maximum: 65_535 }, 'Port of the Service.'),
  row('service.annotations', {}, texts, 'Annotations of the Service.'),
  row(
    'ingress.enabled',
    false,
    flag,
    'Create an Ingress with the host and path of config.web.external_url, which is then required. The path is also config.web.route_prefix, unless you set the prefix to / because the Ingress removes the path.',
  ),
  row('ingress.className', '', text, 'Class of the Ingress; the default one if empty.'),
  row('ingress.annotations', {}, texts, 'Annotations of the Ingress, such as a backend protocol with webConfig.tls.'),
  row(
    'ingress.tlsSecret',
    '',
    secretName,
    'Secret with the certificate of the host of the Ingress: an existing one, or one that an issuer creates.',
  ),
  row('httpRoute.enabled', false, flag, 'Create an HTTPRoute of the Gateway API instead, with the same host and path.'),
  row('httpRoute.parentRefs', [], objects, 'Gateways of the HTTPRoute; required if it is enabled.'),
  row('httpRoute.annotations', {}, texts, 'Annotations of the HTTPRoute.'),
  row('serviceAccount.create', true, flag, 'Create a ServiceAccount; it has no rights, and its token is not mounted.'),
  row('serviceAccount.name', '', secretName, 'Name of the ServiceAccount.'),
  row('serviceAccount.annotations', {}, texts, 'Annotations of the ServiceAccount.'),
  row('serviceMonitor.enabled', false, flag, 'Create a ServiceMonitor for the Prometheus Operator.'),
  row('serviceMonitor.labels', {}, texts, 'Labels by which Prometheus selects the ServiceMonitor.'),
  row('serviceMonitor.interval', '15s', duration, 'Scrape interval; config.metrics.hold_new_series must exceed it.'),
  row('serviceMonitor.scrapeTimeout', '', optionalDuration, 'Scrape timeout; the default of Prometheus if empty.'),
  row('serviceMonitor.tlsConfig', {}, map, 'TLS of scrapes, where webConfig.tls is set.'),
  row('serviceMonitor.basicAuth', {}, map, 'User and password of scrapes, as references to Secrets.'),
  row(
    'podMonitor.enabled',
    false,
    flag,
    'Create a PodMonitor instead of a ServiceMonitor; serviceMonitor has its labels and settings.',
  ),
  row(
    'prometheusRule.enabled',
    false,
    flag,
    'Create a PrometheusRule with the recording rules and alerts of the exporter.',
  ),
  row('prometheusRule.labels', {}, texts, 'Labels by which Prometheus selects the PrometheusRule.'),
  row(
    'prometheusRule.grafanaUrl',
    '',
    { type: 'string', pattern: '^(https?://.+)?$' },
    'URL of the Grafana that has the dashboards, for links in alerts.',
  ),
  row('dashboards.enabled', false, flag, 'Create a ConfigMap for each dashboard, for the sidecar of Grafana.'),
  row('dashboards.label', 'grafana_dashboard', text, 'Label that the sidecar looks for.'),
  row('dashboards.labelValue', '1', text, 'Value of that label.'),
  row('dashboards.annotations', {}, texts, 'Annotations of these ConfigMaps, such as the folder in Grafana.'),
  row('networkPolicy.enabled', false, flag, 'Create a NetworkPolicy.'),
  row('networkPolicy.ingressFrom', [], objects, 'Peers that may reach the exporter; everyone if empty.'),
  row(
    'networkPolicy.egress',
    [{}],
    objects,
    'Egress rules beside the one for DNS; everything is allowed unless they are set.',
  ),
  row(
    'podDisruptionBudget.enabled',
    false,
    flag,
    'Create a PodDisruptionBudget; with several replicas there always is one.',
  ),
  row(
    'podDisruptionBudget.maxUnavailable',
    1,
    percentOrNumber,
    'Largest number of pods that may be down; 0 blocks draining of the node.',
  ),
  row(
    'resources',
    { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } },
    map,
    'Resources of the exporter.',
  ),
  row('podSecurityContext', restrictedPod, map, 'Security context of the pod.'),
  row('securityContext', restricted, map, 'Security context of the container.'),
  row(
    'livenessProbe',
    { periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 6 },
    map,
    'Timing of the probe of /-/healthy.',
  ),
  row(
    'readinessProbe',
    { periodSeconds: 10, timeoutSeconds: 5 },
    map,
    'Timing of the probe of /-/ready: every server was polled once.',
  ),
  row(
    'startupProbe',
    { periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 60 },
    map,
    'Timing of the probe at the start, which includes the check of a large state.',
  ),
  row('terminationGracePeriodSeconds', 60, { type: 'integer', minimum: 0 }, 'Time to write the state at the end.'),
  row('podAnnotations', {}, texts, 'Annotations of the pod.'),
  row('podLabels', {}, texts, 'Labels of the pod.'),
  row('nodeSelector', {}, texts, 'Labels of nodes to run on.'),
  row('tolerations', [], objects, 'Tolerations of the pod.'),
  row('affinity', {}, map, 'Affinity of the pod; without it, several replicas prefer different nodes.'),
  row('priorityClassName', '', text, 'Priority class of the pod.'),
  row('extraVolumes', [], objects, 'More volumes of the pod, such as a ConfigMap with certificate authorities.'),
  row('extraVolumeMounts', [], objects, 'More mounts of the container.'),
  row('tests.enabled', true, flag, 'Have `helm test` run `check` with the configuration and secrets of the release.'),
  row('extraObjects', [], list, 'More objects of the release, as templates.'),
];

// One line per row is easier to read.
function row(path: string, fallback: unknown, schema: Schema, help: string): ChartValue {
  return { path, default: fallback, schema, help };
}
